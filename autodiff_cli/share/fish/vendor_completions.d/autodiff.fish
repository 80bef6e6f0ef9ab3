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
complete --command autodiff --no-files --condition __autodiff_completes \
    --arguments '(string join \n -- $__autodiff_candidates)'
