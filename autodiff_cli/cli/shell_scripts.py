"""The completion scripts of the shells, and their installation.

A script asks the command for candidates, one a line with its description after a tab, and hands the
lines to its shell as data: nothing that the command prints is evaluated.
"""

import os
import subprocess
import sys
from pathlib import Path

from ..errors import usage_error

# The environment variables of a request: the shell, and the line up to the cursor.
VARIABLE, LINE = "_AUTODIFF_COMPLETE", "_AUTODIFF_LINE"

_BASH = """\
_autodiff_completion() {
    local LC_ALL_BEFORE=${LC_ALL-} line
    # the cursor's place is in bytes
    local LC_ALL=C
    local typed=${COMP_LINE:0:COMP_POINT}
    LC_ALL=$LC_ALL_BEFORE
    [[ -n $LC_ALL ]] || unset LC_ALL
    mapfile -t COMPREPLY < <(_AUTODIFF_COMPLETE=bash _AUTODIFF_LINE=$typed "$1" 2>/dev/null)
    [[ ${COMPREPLY[0]-} == *[=\\(] ]] && compopt -o nospace
    return 0
}

complete -o default -F _autodiff_completion autodiff
"""

_ZSH = """\
#compdef autodiff

_autodiff_completion() {
  emulate -L zsh
  local -a lines names shown open open_shown
  local line name description
  lines=("${(@f)$(_AUTODIFF_COMPLETE=zsh _AUTODIFF_LINE="${(j: :)words[1,CURRENT-1]} $QIPREFIX$PREFIX" \\
    autodiff 2>/dev/null)}")
  for line in "${(@)lines}"; do
    name="${line%%$'\\t'*}"
    description="${line#*$'\\t'}"
    [[ -n "$name" ]] || continue
    [[ "$description" == "$line" ]] && description="$name" || description="${(r:24:)name} $description"
    if [[ "$name" == *[=\\(] ]]; then
      open+=("$name") open_shown+=("$description")
    else
      names+=("$name") shown+=("$description")
    fi
  done
  (( $#names + $#open )) || { _files; return }
  local -i missing=1
  (( $#open )) && compadd -S '' -d open_shown -a open && missing=0
  if (( $#names )) && [[ "${(pj::)names}" == "${(pj::)shown}" ]]; then
    compadd -d shown -a names && missing=0
  elif (( $#names )); then
    compadd -l -d shown -a names && missing=0
  fi
  return missing
}

[[ "$funcstack[1]" = _autodiff ]] && _autodiff_completion "$@"
compdef _autodiff_completion autodiff
"""

_FISH = """\
function __autodiff_completion
    set -lx _AUTODIFF_COMPLETE fish
    set -lx _AUTODIFF_LINE (commandline -cp | string collect)
    autodiff 2>/dev/null
end

function __autodiff_completes
    set -g __autodiff_candidates (__autodiff_completion)
    test (count $__autodiff_candidates) -gt 0
end

complete --command autodiff --erase
complete --command autodiff --no-files --condition __autodiff_completes \\
    --arguments '(string join \\n -- $__autodiff_candidates)'
"""

_POWERSHELL = """\
Register-ArgumentCompleter -Native -CommandName autodiff -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $typed = $commandAst.ToString()
    $length = $cursorPosition - $commandAst.Extent.StartOffset
    $env:_AUTODIFF_COMPLETE = 'powershell'
    $env:_AUTODIFF_LINE = $typed.PadRight($length).Substring(0, $length)
    $encoding = [Console]::OutputEncoding
    try {
        [Console]::OutputEncoding = [System.Text.UTF8Encoding]::new($false)
        $lines = @(autodiff 2>$null)
    } finally {
        [Console]::OutputEncoding = $encoding
        Remove-Item Env:_AUTODIFF_COMPLETE, Env:_AUTODIFF_LINE
    }
    foreach ($line in $lines) {
        $name, $description = $line -split "`t", 2
        if (-not $name) { continue }
        $quoted = $name
        if ($name -notmatch '^[A-Za-z0-9_.=:+/-]+$') {
            $escaped = [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($name)
            $quoted = "'" + $escaped + "'"
        }
        if (-not $description) { $description = $name }
        [System.Management.Automation.CompletionResult]::new($quoted, $name, 'ParameterValue', $description)
    }
}
"""

# The completion script of each shell.
SCRIPTS = {
    "bash": _BASH,
    "zsh": _ZSH,
    "fish": _FISH,
    "powershell": _POWERSHELL,
    "pwsh": _POWERSHELL,
}

# What the scripts of Typer are told, which let the shell evaluate what is printed.
OUTDATED = (
    "autodiff: this completion script is of an older version; replace it by `autodiff"
    " --install-completion`, and start a new shell"
)


def _running_shell() -> str:
    import shellingham

    try:
        shell = str(shellingham.detect_shell()[0]).lower()
    except shellingham.ShellDetectionFailure:
        shell = Path(os.environ.get("SHELL", "")).name.removesuffix(".exe")
    if shell not in SCRIPTS:
        raise usage_error(
            (
                f"there is no completion for the shell `{shell}`"
                if shell
                else "the shell is not known"
            ),
            f"run it in one of {', '.join(SCRIPTS)}",
        )
    return shell


def show_script() -> int:
    """Print the script of the running shell; return the exit code."""
    sys.stdout.write(SCRIPTS[_running_shell()])
    return 0


def install_script() -> int:
    """Install the script of the running shell; return the exit code."""
    shell = _running_shell()
    path, startup, line = _places(shell)
    outdated = (
        path.is_file() and path.read_text(encoding="utf-8", errors="replace") != SCRIPTS[shell]
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    # a shell of Unix on Windows takes no carriage returns
    path.write_text(SCRIPTS[shell], encoding="utf-8", newline="\n")
    if startup is not None:
        text = startup.read_bytes().decode("utf-8", "surrogateescape") if startup.is_file() else ""
        if line not in text.splitlines():
            startup.parent.mkdir(parents=True, exist_ok=True)
            separator = "" if not text or text.endswith("\n") else "\n"
            startup.write_bytes(f"{text}{separator}{line}\n".encode("utf-8", "surrogateescape"))
    replaced = ", in place of an older script" if outdated else ""
    sys.stdout.write(
        f"completion for {shell} is installed in {path}{replaced}; it works in a new shell\n"
    )
    return 0


def _places(shell: str) -> tuple[Path, Path | None, str]:
    """Return the script's path, and the startup file with its line, if the shell needs one."""
    home = Path.home()
    if shell == "bash":
        path = home / ".bash_completions" / "autodiff.sh"
        return path, home / ".bashrc", f"source '{path.as_posix()}'"
    if shell == "zsh":
        startup = Path(os.environ.get("ZDOTDIR") or home) / ".zshrc"
        return (
            home / ".zfunc" / "_autodiff",
            startup,
            "fpath+=~/.zfunc; autoload -Uz compinit; compinit",
        )
    if shell == "fish":
        return home / ".config" / "fish" / "completions" / "autodiff.fish", None, ""
    profile = _powershell_profile(shell)
    path = profile.parent / "autodiff-completion.ps1"
    quoted = str(path).replace("'", "''")
    return path, profile, f". '{quoted}'"


def _powershell_profile(shell: str) -> Path:
    command = [
        shell,
        "-NoProfile",
        "-Command",
        "[Console]::OutputEncoding = [Text.Encoding]::UTF8; $profile",
    ]
    try:
        printed = (
            subprocess.run(command, capture_output=True, check=True)
            .stdout.decode("utf-8", "replace")
            .strip()
        )
    except (OSError, subprocess.CalledProcessError):
        printed = ""
    if not printed:
        raise usage_error(
            f"{shell} does not say where its profile is",
            "`autodiff --show-completion` shows the script",
        )
    return Path(printed)
