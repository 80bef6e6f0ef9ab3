"""Files as instruments, loggers and their programs write them, with what a person reads from
them.
"""

from __future__ import annotations

from typing import NamedTuple


class InstrumentFile(NamedTuple):
    """A file, and columns of it by their places from 1; None stands for a cell without a number."""

    text: str
    columns: dict[int, list[float | None]]
    option: str | None = None
    """The option that a refusal names; empty where none reads the file."""
    said: str = ""
    """What the line `read:` has to say."""
    encoding: str = "utf-8"


# fmt: off
# ruff: noqa: E501
FILES = {
    "lvm comment one": InstrumentFile(
        "LabVIEW Measurement\t\n"
        "Writer_Version\t2\n"
        "Reader_Version\t2\n"
        "Separator\tTab\n"
        "Decimal_Separator\t.\n"
        "Multi_Headings\tYes\n"
        "X_Columns\tOne\n"
        "Time_Pref\tAbsolute\n"
        "Operator\tme\n"
        "Date\t2010/05/03\n"
        "Time\t17:18:18.938\n"
        "***End_of_Header***\t\n"
        "\t\n"
        "Channels\t2\t\t\n"
        "Samples\t3\t3\t\n"
        "Date\t2010/05/03\t2010/05/03\t\n"
        "Time\t17:18:18.9\t17:18:18.9\t\n"
        "X_Dimension\tTime\tTime\t\n"
        "X0\t0.0E+0\t0.0E+0\t\n"
        "Delta_X\t0.001\t0.001\t\n"
        "***End_of_Header***\t\t\t\n"
        "X_Value\tVoltage\tCurrent\tComment\n"
        "0.000\t1.5\t0.2\tstart\n"
        "0.001\t1.6\t0.3\n"
        "0.002\t1.7\t0.4\n",
        {2: [1.5, 1.6, 1.7], 3: [0.2, 0.3, 0.4]},
    ),
    "lvm comment tab": InstrumentFile(
        "LabVIEW Measurement\t\n"
        "Writer_Version\t2\n"
        "Reader_Version\t2\n"
        "Separator\tTab\n"
        "Decimal_Separator\t.\n"
        "Multi_Headings\tYes\n"
        "X_Columns\tOne\n"
        "Time_Pref\tAbsolute\n"
        "Operator\tme\n"
        "Date\t2010/05/03\n"
        "Time\t17:18:18.938\n"
        "***End_of_Header***\t\n"
        "\t\n"
        "Channels\t2\t\t\n"
        "Samples\t3\t3\t\n"
        "Date\t2010/05/03\t2010/05/03\t\n"
        "Time\t17:18:18.9\t17:18:18.9\t\n"
        "X_Dimension\tTime\tTime\t\n"
        "X0\t0.0E+0\t0.0E+0\t\n"
        "Delta_X\t0.001\t0.001\t\n"
        "***End_of_Header***\t\t\t\n"
        "X_Value\tVoltage\tCurrent\tComment\n"
        "0.000\t1.5\t0.2\t\n"
        "0.001\t1.6\t0.3\t\n"
        "0.002\t1.7\t0.4\tpump on, 3 V\n",
        {2: [1.5, 1.6, 1.7], 3: [0.2, 0.3, 0.4]},
    ),
    "lvm comment first and other": InstrumentFile(
        "LabVIEW Measurement\t\n"
        "Writer_Version\t2\n"
        "Reader_Version\t2\n"
        "Separator\tTab\n"
        "Decimal_Separator\t.\n"
        "Multi_Headings\tYes\n"
        "X_Columns\tOne\n"
        "Time_Pref\tAbsolute\n"
        "Operator\tme\n"
        "Date\t2010/05/03\n"
        "Time\t17:18:18.938\n"
        "***End_of_Header***\t\n"
        "\t\n"
        "Channels\t2\t\t\n"
        "Samples\t3\t3\t\n"
        "Date\t2010/05/03\t2010/05/03\t\n"
        "Time\t17:18:18.9\t17:18:18.9\t\n"
        "X_Dimension\tTime\tTime\t\n"
        "X0\t0.0E+0\t0.0E+0\t\n"
        "Delta_X\t0.001\t0.001\t\n"
        "***End_of_Header***\t\t\t\n"
        "X_Value\tVoltage\tCurrent\tComment\n"
        "0.000\t1.5\t0.2\tstart of run\n"
        "0.001\t1.6\t0.3\tvalve 2\n"
        "0.002\t1.7\t0.4\tend\n",
        {2: [1.5, 1.6, 1.7], 3: [0.2, 0.3, 0.4]},
    ),
    "lvm numeric comment": InstrumentFile(
        "LabVIEW Measurement\t\n"
        "Writer_Version\t2\n"
        "Reader_Version\t2\n"
        "Separator\tTab\n"
        "Decimal_Separator\t.\n"
        "Multi_Headings\tYes\n"
        "X_Columns\tOne\n"
        "Time_Pref\tAbsolute\n"
        "Operator\tme\n"
        "Date\t2010/05/03\n"
        "Time\t17:18:18.938\n"
        "***End_of_Header***\t\n"
        "\t\n"
        "Channels\t2\t\t\n"
        "Samples\t3\t3\t\n"
        "Date\t2010/05/03\t2010/05/03\t\n"
        "Time\t17:18:18.9\t17:18:18.9\t\n"
        "X_Dimension\tTime\tTime\t\n"
        "X0\t0.0E+0\t0.0E+0\t\n"
        "Delta_X\t0.001\t0.001\t\n"
        "***End_of_Header***\t\t\t\n"
        "X_Value\tVoltage\tCurrent\tComment\n"
        "0.000\t1.5\t0.2\t7\n"
        "0.001\t1.6\t0.3\n"
        "0.002\t1.7\t0.4\n",
        {2: [1.5, 1.6, 1.7], 3: [0.2, 0.3, 0.4]},
    ),
    "lvm multi x": InstrumentFile(
        "LabVIEW Measurement\t\n"
        "Writer_Version\t2\n"
        "Reader_Version\t2\n"
        "Separator\tTab\n"
        "Decimal_Separator\t.\n"
        "Multi_Headings\tYes\n"
        "X_Columns\tMulti\n"
        "Time_Pref\tAbsolute\n"
        "Operator\tme\n"
        "Date\t2010/05/03\n"
        "Time\t17:18:18.938\n"
        "***End_of_Header***\t\n"
        "\t\n"
        "Channels\t2\t\t\n"
        "Samples\t3\t3\t\n"
        "Date\t2010/05/03\t2010/05/03\t\n"
        "Time\t17:18:18.9\t17:18:18.9\t\n"
        "X_Dimension\tTime\tTime\t\n"
        "X0\t0.0E+0\t0.0E+0\t\n"
        "Delta_X\t0.001\t0.001\t\n"
        "***End_of_Header***\t\t\t\n"
        "X_Value\tVoltage\tX_Value\tCurrent\tComment\n"
        "0.000\t1.5\t0.0\t0.2\n"
        "0.001\t1.6\t0.001\t0.3\n"
        "0.002\t1.7\t0.002\t0.4\n",
        {2: [1.5, 1.6, 1.7], 4: [0.2, 0.3, 0.4]},
        option="--skip 22 --header none",
    ),
    "lvm no x": InstrumentFile(
        "LabVIEW Measurement\t\n"
        "Writer_Version\t2\n"
        "Reader_Version\t2\n"
        "Separator\tTab\n"
        "Decimal_Separator\t.\n"
        "Multi_Headings\tYes\n"
        "X_Columns\tNo\n"
        "Time_Pref\tAbsolute\n"
        "Operator\tme\n"
        "Date\t2010/05/03\n"
        "Time\t17:18:18.938\n"
        "***End_of_Header***\t\n"
        "\t\n"
        "Channels\t2\t\t\n"
        "Samples\t3\t3\t\n"
        "Date\t2010/05/03\t2010/05/03\t\n"
        "Time\t17:18:18.9\t17:18:18.9\t\n"
        "X_Dimension\tTime\tTime\t\n"
        "X0\t0.0E+0\t0.0E+0\t\n"
        "Delta_X\t0.001\t0.001\t\n"
        "***End_of_Header***\t\t\t\n"
        "X_Value\tVoltage\tCurrent\tComment\n"
        "\t1.5\t0.2\tgo\n"
        "\t1.6\t0.3\n"
        "\t1.7\t0.4\n",
        {2: [1.5, 1.6, 1.7], 3: [0.2, 0.3, 0.4]},
    ),
    "lvm two segments": InstrumentFile(
        "LabVIEW Measurement\t\n"
        "Writer_Version\t2\n"
        "Reader_Version\t2\n"
        "Separator\tTab\n"
        "Decimal_Separator\t.\n"
        "Multi_Headings\tYes\n"
        "X_Columns\tOne\n"
        "Time_Pref\tAbsolute\n"
        "Operator\tme\n"
        "Date\t2010/05/03\n"
        "Time\t17:18:18.938\n"
        "***End_of_Header***\t\n"
        "\t\n"
        "Channels\t2\t\t\n"
        "Samples\t3\t3\t\n"
        "Date\t2010/05/03\t2010/05/03\t\n"
        "Time\t17:18:18.9\t17:18:18.9\t\n"
        "X_Dimension\tTime\tTime\t\n"
        "X0\t0.0E+0\t0.0E+0\t\n"
        "Delta_X\t0.001\t0.001\t\n"
        "***End_of_Header***\t\t\t\n"
        "X_Value\tVoltage\tCurrent\tComment\n"
        "0.000\t1.5\t0.2\n"
        "0.001\t1.6\t0.3\n"
        "0.002\t1.7\t0.4\n"
        "\n"
        "Channels\t2\t\t\n"
        "Samples\t2\t2\t\n"
        "***End_of_Header***\t\t\t\n"
        "X_Value\tVoltage\tCurrent\tComment\n"
        "0.003\t1.8\t0.5\n"
        "0.004\t1.9\t0.6\n",
        {},
        option="",
    ),
    "gamry cv": InstrumentFile(
        "EXPLAIN\n"
        "TAG\tCV\n"
        "TITLE\tLABEL\tCyclic Voltammetry\tTest &Identifier\n"
        "DATE\tLABEL\t9/13/2010\tDate\n"
        "TIME\tLABEL\t11:40:12\tTime\n"
        "NOTES\tNOTES\t1\t&Notes...\n"
        "\tferrocene 1 mM\n"
        "PSTAT\tPSTAT\tREF600\tPotentiostat\n"
        "VINIT\tPOTEN\t0.00000E+000\tT\tInitial &E (V)\n"
        "SCANRATE\tQUANT\t1.00000E+002\tScan Ra&te (mV/s)\n"
        "AREA\tQUANT\t1.00000E+000\t&Sample Area (cm^2)\n"
        "EOC\tQUANT\t0.1234\tOpen Circuit (V)\n"
        "CURVE\tTABLE\t3\n"
        "\tPt\tT\tVf\tIm\tVu\tSig\tAch\tIERange\tOver\n"
        "\t#\ts\tV vs. Ref.\tA\tV\tV\tV\t#\tbits\n"
        "\t0\t0.1\t-1.5E-001\t1.1E-006\t0.0\t-0.15\t0.01\t8\t...........\n"
        "\t1\t0.2\t-1.4E-001\t1.2E-006\t0.0\t-0.14\t0.01\t8\t...........\n"
        "\t2\t0.3\t-1.3E-001\t1.3E-006\t0.0\t-0.13\t0.01\t8\t...........\n",
        {4: [-0.15, -0.14, -0.13], 5: [1.1e-06, 1.2e-06, 1.3e-06], 9: [8, 8, 8]},
    ),
    "gamry eis": InstrumentFile(
        "EXPLAIN\n"
        "TAG\tCV\n"
        "TITLE\tLABEL\tCyclic Voltammetry\tTest &Identifier\n"
        "DATE\tLABEL\t9/13/2010\tDate\n"
        "TIME\tLABEL\t11:40:12\tTime\n"
        "NOTES\tNOTES\t1\t&Notes...\n"
        "\tferrocene 1 mM\n"
        "PSTAT\tPSTAT\tREF600\tPotentiostat\n"
        "VINIT\tPOTEN\t0.00000E+000\tT\tInitial &E (V)\n"
        "SCANRATE\tQUANT\t1.00000E+002\tScan Ra&te (mV/s)\n"
        "AREA\tQUANT\t1.00000E+000\t&Sample Area (cm^2)\n"
        "EOC\tQUANT\t0.1234\tOpen Circuit (V)\n"
        "ZCURVE\tTABLE\n"
        "\tPt\tTime\tFreq\tZreal\tZimag\tZsig\tZmod\tZphz\tIdc\tVdc\tIERange\n"
        "\t#\ts\tHz\tohm\tohm\tV\tohm\t°\tA\tV\t#\n"
        "\t0\t1\t100019.5\t12.3\t-4.5\t1\t13.1\t-20.1\t1e-6\t0.1\t9\n"
        "\t1\t2\t79453.1\t12.9\t-5.5\t1\t14.0\t-23.1\t1e-6\t0.1\t9\n"
        "\t2\t3\t63140.6\t13.3\t-6.5\t1\t14.8\t-26.1\t1e-6\t0.1\t9\n",
        {4: [100019.5, 79453.1, 63140.6], 6: [-4.5, -5.5, -6.5]},
        encoding="latin-1",
    ),
    "gamry two curves": InstrumentFile(
        "EXPLAIN\n"
        "TAG\tCV\n"
        "TITLE\tLABEL\tCyclic Voltammetry\tTest &Identifier\n"
        "DATE\tLABEL\t9/13/2010\tDate\n"
        "TIME\tLABEL\t11:40:12\tTime\n"
        "NOTES\tNOTES\t1\t&Notes...\n"
        "\tferrocene 1 mM\n"
        "PSTAT\tPSTAT\tREF600\tPotentiostat\n"
        "VINIT\tPOTEN\t0.00000E+000\tT\tInitial &E (V)\n"
        "SCANRATE\tQUANT\t1.00000E+002\tScan Ra&te (mV/s)\n"
        "AREA\tQUANT\t1.00000E+000\t&Sample Area (cm^2)\n"
        "EOC\tQUANT\t0.1234\tOpen Circuit (V)\n"
        "CURVE1\tTABLE\t2\n"
        "\tPt\tT\tVf\tIm\n"
        "\t#\ts\tV vs. Ref.\tA\n"
        "\t0\t0.1\t-1.5E-001\t1.1E-006\n"
        "\t1\t0.2\t-1.4E-001\t1.2E-006\n"
        "CURVE2\tTABLE\t2\n"
        "\tPt\tT\tVf\tIm\n"
        "\t#\ts\tV vs. Ref.\tA\n"
        "\t0\t0.3\t-1.3E-001\t1.3E-006\n"
        "\t1\t0.4\t-1.2E-001\t1.4E-006\n",
        {4: [-0.15, -0.14, None, None, -0.13, -0.12]},
        option="--separator tab",
    ),
    "amptek": InstrumentFile(
        "<<PMCA SPECTRUM>>\n"
        "TAG - live_data\n"
        "DESCRIPTION - \n"
        "GAIN - 4\n"
        "THRESHOLD - 0\n"
        "LIVE_MODE - 0\n"
        "PRESET_TIME - 0\n"
        "LIVE_TIME - 100.123\n"
        "REAL_TIME - 101.234\n"
        "START_TIME - 05/03/2010 11:12:13\n"
        "SERIAL_NUMBER - 1234\n"
        "<<DATA>>\n"
        "0\n"
        "0\n"
        "3\n"
        "12\n"
        "40\n"
        "12\n"
        "2\n"
        "<<END>>\n"
        "<<DP5 CONFIGURATION>>\n"
        "RESC=?;    Reset Configuration\n"
        "CLCK=80;    20MHz/80MHz\n"
        "<<DP5 CONFIGURATION END>>\n",
        {1: [0, 0, 3, 12, 40, 12, 2]},
        option="--skip 12 --header none",
    ),
    "amptek calib": InstrumentFile(
        "<<PMCA SPECTRUM>>\n"
        "TAG - live_data\n"
        "DESCRIPTION - \n"
        "GAIN - 4\n"
        "THRESHOLD - 0\n"
        "LIVE_MODE - 0\n"
        "PRESET_TIME - 0\n"
        "LIVE_TIME - 100.123\n"
        "REAL_TIME - 101.234\n"
        "START_TIME - 05/03/2010 11:12:13\n"
        "SERIAL_NUMBER - 1234\n"
        "<<CALIBRATION>>\n"
        "LABEL - Channel\n"
        "120 5.9\n"
        "340 17.44\n"
        "<<ROI>>\n"
        "100 140\n"
        "320 360\n"
        "<<DATA>>\n"
        "0\n"
        "0\n"
        "3\n"
        "12\n"
        "40\n"
        "12\n"
        "2\n"
        "<<END>>\n",
        {1: [0, 0, 3, 12, 40, 12, 2]},
        option="--skip 19 --header none",
    ),
    "gw instek": InstrumentFile(
        "Memory Length,4000,\n"
        "Trigger Level,0.0mV,\n"
        "Source,CH1,\n"
        "Probe,10.0X,\n"
        "Vertical Units,V,\n"
        "Vertical Scale,2.0E+00,\n"
        "Vertical Position,0.0E+00,\n"
        "Horizontal Units,S,\n"
        "Horizontal Scale,2.5E-04,\n"
        "Horizontal Position,0.0E+00,\n"
        "Horizontal Mode,Main,\n"
        "Sampling Period,1.0E-06,\n"
        "Firmware,V1.19,\n"
        "Time,03-May-10 11:12:13,\n"
        "Mode,Fast,\n"
        "Waveform Data,\n"
        "-12,\n"
        "-11,\n"
        "-10,\n"
        "-9,\n",
        {1: [-12, -11, -10, -9]},
        option="--skip 16 --header none",
    ),
    "gw instek detail": InstrumentFile(
        "Format,1.0B,\n"
        "Memory Length,10000,\n"
        "Trigger Level,-1.2E-01,\n"
        "Source,CH1,\n"
        "Probe,10.0X,\n"
        "Vertical Units,V,\n"
        "Vertical Scale,2.0E+00,\n"
        "Horizontal Scale,2.5E-04,\n"
        "Sampling Period,1.0E-06,\n"
        "Time,03-May-10 11:12:13,\n"
        "Mode,Detail,\n"
        "Waveform Data,,\n"
        "-0.005,0.12,\n"
        "-0.004,0.13,\n"
        "-0.003,0.14,\n",
        {1: [-0.005, -0.004, -0.003], 2: [0.12, 0.13, 0.14]},
    ),
    "gw instek 2ch": InstrumentFile(
        "Format,2.0B,Format,2.0B,\n"
        "Memory Length,10000,Memory Length,10000,\n"
        "Source,CH1,Source,CH2,\n"
        "Vertical Units,V,Vertical Units,V,\n"
        "Vertical Scale,2.0E+00,Vertical Scale,1.0E+00,\n"
        "Mode,Detail,Mode,Detail,\n"
        "Waveform Data,,Waveform Data,,\n"
        "-0.005,0.12,-0.005,0.22,\n"
        "-0.004,0.13,-0.004,0.23,\n"
        "-0.003,0.14,-0.003,0.24,\n",
        {2: [0.12, 0.13, 0.14], 4: [0.22, 0.23, 0.24]},
    ),
    "siglent": InstrumentFile(
        "Record Length,Analog:7000\n"
        "Sample Interval,Analog:2.00E-09\n"
        "Vertical Units,CH1:V,CH2:V\n"
        "Vertical Scale,CH1:2.00,CH2:1.00\n"
        "Vertical Offset,CH1:-2.40000,CH2:0.00000\n"
        "Horizontal Units,s\n"
        "Horizontal Scale,1.0E-06\n"
        "Model Number,SDS1204X-E\n"
        "Serial Number,SDSMMEBC1R0000\n"
        "Software Version,7.6.1.15\n"
        "Source,CH1,CH2\n"
        "Second,Volt,Volt\n"
        "-7.0E-06,0.08,0.01\n"
        "-6.9E-06,0.16,0.02\n"
        "-6.8E-06,0.24,0.03\n",
        {2: [0.08, 0.16, 0.24], 3: [0.01, 0.02, 0.03]},
    ),
    "siglent 1ch": InstrumentFile(
        "Record Length,Analog:7000\nSource,CH1\nSecond,Volt\n-7.0E-06,0.08\n-6.9E-06,0.16\n-6.8E-06,0.24\n",
        {2: [0.08, 0.16, 0.24]},
        option="--skip 1",
    ),
    "lecroy": InstrumentFile(
        "LECROYWS424,20050,Waveform\n"
        "Segments,1,SegmentSize,500\n"
        "Segment,TrigTime,TimeSinceSegment1\n"
        "#1,05-Jan-2010 12:23:11,0                 \n"
        "Time,Ampl\n"
        "-2.5e-7,-0.0012\n"
        "-2.4e-7,-0.0013\n"
        "-2.3e-7,-0.0014\n",
        {2: [-0.0012, -0.0013, -0.0014]},
    ),
    "lecroy 2 segments": InstrumentFile(
        "LECROYWS424,20050,Waveform\n"
        "Segments,2,SegmentSize,3\n"
        "Segment,TrigTime,TimeSinceSegment1\n"
        "#1,05-Jan-2010 12:23:11,0                 \n"
        "#2,05-Jan-2010 12:23:12,1.0                 \n"
        "Time,Ampl\n"
        "-2.5e-7,-0.0012\n"
        "-2.4e-7,-0.0013\n"
        "-2.5e-7,-0.0014\n"
        "-2.4e-7,-0.0015\n",
        {2: [-0.0012, -0.0013, -0.0014, -0.0015]},
    ),
    "benchlink": InstrumentFile(
        "Name:,Conf 1,,\n"
        "Owner:,me,,\n"
        "Comments:,,,\n"
        "Acquisition Date:,5/3/2010 11:12:13 AM,,\n"
        "Instrument:,34970A,,\n"
        "Total Channels:,2,,\n"
        "Channel,Name,Function,Range\n"
        "101,T1,Temp (Type K),C\n"
        "102,U,DC voltage,Auto\n"
        "\n"
        "Scan,Time,101 <T1> (C),102 <U> (VDC)\n"
        "1,05/03/2010 11:12:13:231,22.5,1.1\n"
        "2,05/03/2010 11:12:14:231,22.6,1.2\n"
        "3,05/03/2010 11:12:15:231,22.7,1.3\n",
        {3: [22.5, 22.6, 22.7], 4: [1.1, 1.2, 1.3]},
    ),
    "hobo": InstrumentFile(
        '"Plot Title: 10123456"\n'
        '"#","Date Time, GMT-05:00","Temp, °C (LGR S/N: 10123456, SEN S/N: 10123456)","RH, % (LGR S/N: 10123456)","Host Connected (LGR)","End Of File (LGR)"\n'
        "1,06/24/10 10:00:00 AM,23.25,45.1,,\n"
        "2,06/24/10 10:05:00 AM,23.35,45.3,,\n"
        "3,06/24/10 10:10:00 AM,23.45,45.6,Logged,Logged\n",
        {3: [23.25, 23.35, 23.45], 4: [45.1, 45.3, 45.6]},
    ),
    "picoscope": InstrumentFile(
        "Time,Channel A,Channel B\n"
        "(ms),(V),(mV)\n"
        "\n"
        "-1.00000000,0.12500000,20.1\n"
        "-0.99000000,0.13500000,20.2\n"
        "-0.98000000,0.14500000,20.3\n",
        {2: [0.125, 0.135, 0.145], 3: [20.1, 20.2, 20.3]},
    ),
    "picoscope inf": InstrumentFile(
        "Time,Channel A\n(ms),(V)\n\n-1.00000000,0.12500000\n-0.99000000,-∞\n-0.98000000,∞\n-0.97,0.2\n",
        {2: [0.125, None, None, 0.2]},
    ),
    "picolog": InstrumentFile(
        ",Channel 1 Ave. (mV),Channel 2 Ave. (C)\n0.0,1.2,22.1\n1.0,1.3,22.2\n2.0,1.4,22.3\n",
        {2: [1.2, 1.3, 1.4], 3: [22.1, 22.2, 22.3]},
    ),
    "waveforms": InstrumentFile(
        "#Digilent WaveForms Oscilloscope Acquisition\n"
        "#Device Name: Discovery2\n"
        "#Serial Number: SN:210321A\n"
        "#Date Time: 2010-05-03 11:12:13\n"
        "#Sample rate: 4000000Hz\n"
        "#Samples: 3\n"
        "#Trigger: Source: Channel 1 Type: Edge\n"
        "\n"
        "Time (s),Channel 1 (V)\n"
        "-0.001,0.12\n"
        "0,0.13\n"
        "0.001,0.14\n",
        {2: [0.12, 0.13, 0.14]},
    ),
    "ocean": InstrumentFile(
        "SpectraSuite Data File\n"
        "++++++++++++++++++++++++++++++++++++\n"
        "Date: Mon May 03 11:12:13 CEST 2010\n"
        "User: me\n"
        "Dark Spectrum Present: Yes\n"
        "Number of Sampled Component Spectra: 1\n"
        "Spectrometers: USB2G123\n"
        "Integration Time (usec): 100000 (USB2G123)\n"
        "Boxcar Smoothing: 0\n"
        "Number of Pixels in Processed Spectrum: 4\n"
        ">>>>>Begin Processed Spectral Data<<<<<\n"
        "339.21\t1.22\n"
        "339.58\t1.25\n"
        "339.95\t1.31\n"
        "340.32\t1.41\n"
        ">>>>>End Processed Spectral Data<<<<<\n",
        {1: [339.21, 339.58, 339.95, 340.32], 2: [1.22, 1.25, 1.31, 1.41]},
    ),
    "avantes": InstrumentFile(
        "Raw data\n"
        "\n"
        "Integration time [ms]: 100.000\n"
        "Averaging Nr. [scans]:     10\n"
        "Wave      ;Sample    ;Dark      ;Reference\n"
        "[nm]      ;[counts]  ;[counts]  ;[counts]\n"
        "\n"
        " 200.014;  1203.1;  1100.2;  1400.3\n"
        " 200.601;  1204.1;  1101.2;  1401.3\n"
        " 201.188;  1205.1;  1102.2;  1402.3\n",
        {2: [1203.1, 1204.1, 1205.1], 4: [1400.3, 1401.3, 1402.3]},
    ),
    "andor": InstrumentFile(
        "190.512\t2334\n"
        "191.112\t2335\n"
        "191.712\t2336\n"
        "\n"
        "Date and Time:  Mon May 03 11:12:13 2010\n"
        "Software Version: 4.25\n"
        "Temperature (C): -60\n"
        "Model: DU420\n"
        "Exposure Time (secs): 0.1\n",
        {1: [190.512, 191.112, 191.712], 2: [2334, 2335, 2336]},
    ),
    "labspec": InstrumentFile(
        "#Acq. time (s)=\t10\n"
        "#Accumulations=\t2\n"
        "#Range (cm-1)=\t\n"
        "#Laser (nm)=\t532\n"
        "#AxisType[0]=\tIntens\n"
        "#AxisUnit[0]=\tCnt\n"
        "#AxisType[1]=\tSpectr\n"
        "#AxisUnit[1]=\t1/cm\n"
        "100.12\t500\n"
        "101.55\t510\n"
        "102.98\t520\n",
        {1: [100.12, 101.55, 102.98], 2: [500, 510, 520]},
        said="no header",
    ),
    "renishaw": InstrumentFile(
        "#Wave\t\t#Intensity\n3200.1\t\t12.3\n3199.1\t\t12.4\n3198.1\t\t12.5\n",
        {1: [3200.1, 3199.1, 3198.1], -1: [12.3, 12.4, 12.5]},
    ),
    "opus dpt": InstrumentFile(
        "3998.1,0.021\n3996.2,0.022\n3994.3,0.023\n",
        {1: [3998.1, 3996.2, 3994.3], 2: [0.021, 0.022, 0.023]},
    ),
    "jasco": InstrumentFile(
        "TITLE\tSample 1\n"
        "DATA TYPE\tULTRAVIOLET SPECTRUM\n"
        "ORIGIN\tJASCO\n"
        "OWNER\t\n"
        "DATE\t10/05/03\n"
        "TIME\t11:12:13\n"
        "SPECTROMETER/DATA SYSTEM\tJASCO Corp., V-530, Rev. 1.00\n"
        "DELTAX\t-1\n"
        "XUNITS\tNANOMETERS\n"
        "YUNITS\tABSORBANCE\n"
        "FIRSTX\t700\n"
        "LASTX\t698\n"
        "NPOINTS\t3\n"
        "FIRSTY\t0.0012\n"
        "MAXY\t0.0014\n"
        "MINY\t0.0012\n"
        "XYDATA\n"
        "700\t0.0012\n"
        "699\t0.0013\n"
        "698\t0.0014\n"
        "\n"
        "##### Extended Information\n"
        "[Comments]\n"
        "Sample name\tSample 1\n"
        "User\tme\n"
        "[Measurement Information]\n"
        "Model Name\tV-530\n",
        {1: [700, 699, 698], 2: [0.0012, 0.0013, 0.0014]},
    ),
    "jcamp packed": InstrumentFile(
        "##TITLE=benzene\n"
        "##JCAMP-DX=4.24\n"
        "##DATA TYPE=INFRARED SPECTRUM\n"
        "##XUNITS=1/CM\n"
        "##YUNITS=ABSORBANCE\n"
        "##FIRSTX=400\n"
        "##LASTX=411\n"
        "##DELTAX=1\n"
        "##NPOINTS=12\n"
        "##XYDATA=(X++(Y..Y))\n"
        "400 12 13 14 15\n"
        "404 16 17 18 19\n"
        "408 20 21 22 23\n"
        "##END=\n",
        {},
        option="",
    ),
    "jcamp points": InstrumentFile(
        "##TITLE=benzene\n"
        "##JCAMP-DX=4.24\n"
        "##XUNITS=1/CM\n"
        "##YUNITS=ABSORBANCE\n"
        "##NPOINTS=3\n"
        "##XYPOINTS=(XY..XY)\n"
        "400.1, 12\n"
        "401.2, 13\n"
        "403.4, 14\n"
        "##END=\n",
        {1: [400.1, 401.2, 403.4], 2: [12, 13, 14]},
    ),
    "shimadzu uv": InstrumentFile(
        '"File: C:\\UV\\sample1.spc"\n"Wavelength nm.","Abs."\n200.00,0.101\n201.00,0.102\n202.00,0.103\n',
        {1: [200, 201, 202], 2: [0.101, 0.102, 0.103]},
    ),
    "labsolutions": InstrumentFile(
        "[Header]\n"
        "Application Name\tLabSolutions\n"
        "Version\t5.82\n"
        "Data File Name\tC:\\d\\a.lcd\n"
        "\n"
        "[Sample Information]\n"
        "Sample Name\tmix\n"
        "Vial#\t4\n"
        "Injection Volume\t10\n"
        "\n"
        "[LC Chromatogram(Detector A-Ch1)]\n"
        "Interval(msec)\t500\n"
        "# of Points\t3\n"
        "Start Time(min)\t0.000\n"
        "End Time(min)\t0.017\n"
        "Intensity Units\tmV\n"
        "Intensity Multiplier\t0.001\n"
        "Wavelength(nm)\t254\n"
        "R.Time (min)\tIntensity\n"
        "0.00000\t12\n"
        "0.00833\t13\n"
        "0.01667\t14\n",
        {1: [0, 0.00833, 0.01667], 2: [12, 13, 14]},
    ),
    "masshunter": InstrumentFile(
        '#"+ESI TIC Scan Frag=175.0V a.d"\n#Point,X(Minutes),Y(Counts)\n0,0.10,1200.5\n1,0.11,1201.5\n2,0.12,1202.5\n',
        {2: [0.1, 0.11, 0.12], 3: [1200.5, 1201.5, 1202.5]},
    ),
    "ta dsc": InstrumentFile(
        "Filename\tC:\\TA\\a.txt\n"
        "Instrument\tDSC Q2000 V24.11\n"
        "Operator\tme\n"
        "Sample Size\t5.2300\tmg\n"
        "Method\tHeat/Cool\n"
        "Size\t5.23 mg\n"
        "Nsig\t3\n"
        "Sig1\tTime (min)\n"
        "Sig2\tTemperature (°C)\n"
        "Sig3\tHeat Flow (mW)\n"
        "Date\t2010-05-03\n"
        "Time\t11:12:13\n"
        "StartOfData\n"
        "0.0000\t25.01\t-0.101\n"
        "0.0017\t25.02\t-0.102\n"
        "0.0033\t25.03\t-0.103\n",
        {2: [25.01, 25.02, 25.03], 3: [-0.101, -0.102, -0.103]},
    ),
    "mettler": InstrumentFile(
        "Curve Name:\n"
        "  !$dQ\n"
        "Curve Values:\n"
        "      Index             t       Heat Flow            Tr\n"
        "        [#]           [s]            [mW]          [°C]\n"
        "          0             0        -0.500000            25\n"
        "          1             1        -0.510000            26\n"
        "          2             2        -0.520000            27\n",
        {3: [-0.5, -0.51, -0.52], 4: [25, 26, 27]},
        said="units in line 5",
    ),
    "mettler unit gap": InstrumentFile(
        "Curve Name:\n"
        "  !$dQ\n"
        "Curve Values:\n"
        "      Index             t       Heat Flow            Tr\n"
        "                      [s]            [mW]          [°C]\n"
        "          0             0        -0.500000            25\n"
        "          1             1        -0.510000            26\n"
        "          2             2        -0.520000            27\n",
        {3: [-0.5, -0.51, -0.52], 4: [25, 26, 27]},
        option="--skip 3",
    ),
    "netzsch": InstrumentFile(
        "#EXPORTTYPE:\tDATA ALL\n"
        "#FILE:\ta.sd4\n"
        "#FORMAT:\tNETZSCH5\n"
        "#FTYPE:\tASCII\n"
        "#IDENTITY:\t1\n"
        "#DECIMAL:\tPOINT\n"
        "#SEPARATOR:\tSEMICOLON\n"
        "#MTYPE:\tDSC\n"
        "#INSTRUMENT:\tDSC 204\n"
        "#SEGMENT:\tS1/1\n"
        "##Temp./°C;Time/min;DSC/(mW/mg)\n"
        "30.012;0.00;0.1012\n"
        "30.112;0.01;0.1112\n"
        "30.212;0.02;0.1212\n",
        {1: [30.012, 30.112, 30.212], 3: [0.1012, 0.1112, 0.1212]},
    ),
    "netzsch latin": InstrumentFile(
        "#EXPORTTYPE:;DATA ALL\n"
        "#DECIMAL:;COMMA\n"
        "##Temp./°C;Time/min;DSC/(mW/mg)\n"
        "30,012;0,00;0,1012\n"
        "30,112;0,01;0,1112\n"
        "30,212;0,02;0,1212\n",
        {1: [30.012, 30.112, 30.212], 3: [0.1012, 0.1112, 0.1212]},
        encoding="latin-1",
    ),
    "anton paar": InstrumentFile(
        "Project:\tP1\n"
        "Test:\tT1\n"
        "Result:\tR1\n"
        "\n"
        "Interval and data points:\t1\t3\n"
        "Interval data:\tPoint No.\tTime\tShear Rate\tViscosity\n"
        "\t\t\t\t\n"
        "\t\t[s]\t[1/s]\t[Pa·s]\n"
        "\t1\t10.0\t0.1\t12.5\n"
        "\t2\t20.0\t1.0\t10.5\n"
        "\t3\t30.0\t10.0\t8.5\n",
        {3: [10, 20, 30], 5: [12.5, 10.5, 8.5]},
    ),
    "instron": InstrumentFile(
        '"Specimen label","A1"\n'
        '"Diameter","10.00","mm"\n'
        "\n"
        '"Time","Extension","Load"\n'
        '"(s)","(mm)","(N)"\n'
        '"0.00000","0.00000","1.20000"\n'
        '"0.10000","0.01000","2.30000"\n'
        '"0.20000","0.02000","1,203.40000"\n',
        {2: [0, 0.01, 0.02], 3: [1.2, 2.3, 1203.4]},
    ),
    "mts": InstrumentFile(
        "MTS793|MPT|ENU|1|2|.|/|:|1|0|0|A\n"
        "\n"
        "Data Acquisition: Timed\n"
        "Axial Displacement\tAxial Force\tTime\n"
        "mm\tkN\ts\n"
        "0.01\t0.12\t0.1\n"
        "0.02\t0.13\t0.2\n"
        "0.03\t0.14\t0.3\n",
        {1: [0.01, 0.02, 0.03], 2: [0.12, 0.13, 0.14]},
    ),
    "davis": InstrumentFile(
        "         \t      \t Temp\t   Hi\t  Low\n"
        "   Date\t Time\t  Out\t Temp\t Temp\n"
        "----------------------------------------\n"
        " 5/01/10\t12:05a\t50.1\t50.2\t50.0\n"
        " 5/01/10\t12:10a\t50.3\t50.4\t50.2\n"
        " 5/01/10\t12:15a\t50.5\t50.6\t50.4\n",
        {3: [50.1, 50.3, 50.5]},
        option="--skip 2 --header none",
    ),
    "ndbc": InstrumentFile(
        "#YY  MM DD hh mm WDIR WSPD GST  WVHT\n"
        "#yr  mo dy hr mn degT m/s  m/s     m\n"
        "2010 01 01 00 50 120  5.1  6.2   1.2\n"
        "2010 01 01 01 50 130  5.2  6.3   1.3\n"
        "2010 01 01 02 50 140  5.3  6.4   99.0\n",
        {6: [120, 130, 140], 7: [5.1, 5.2, 5.3]},
        said="units in line 2",
    ),
    "seabird": InstrumentFile(
        "* Sea-Bird SBE 9 Data File:\n"
        "* FileName = C:\\a.hex\n"
        "* System UpLoad Time = May 03 2010 11:12:13\n"
        "# nquan = 3\n"
        "# nvalues = 3\n"
        "# units = specified\n"
        "# name 0 = prDM: Pressure, Digiquartz [db]\n"
        "# name 1 = t090C: Temperature [ITS-90, deg C]\n"
        "# name 2 = c0S/m: Conductivity [S/m]\n"
        "# span 0 = 1.0, 3.0\n"
        "# bad_flag = -9.990e-29\n"
        "# start_time = May 03 2010 11:12:13\n"
        "# file_type = ascii\n"
        "*END*\n"
        "      1.000    12.3456    3.4567\n"
        "      2.000    12.3457    3.4568\n"
        "      3.000    12.3458    3.4569\n",
        {1: [1, 2, 3], 2: [12.3456, 12.3457, 12.3458]},
        said="no header",
    ),
    "panalytical": InstrumentFile(
        "[Measurement conditions]\n"
        "Comment,a\n"
        "Original file name,a.xrdml\n"
        "Measurement date / time,5/3/2010 11:12:13 AM\n"
        "Anode material,Cu\n"
        "K-Alpha1 wavelength,1.540598\n"
        "Scan range,5.0000,90.0000\n"
        "Scan step size,0.0260\n"
        "No. of points,3\n"
        "[Scan points]\n"
        "Angle,TimePerStep,Intensity,ESD\n"
        "5.0130,40.8,1200,34.6\n"
        "5.0390,40.8,1210,34.8\n"
        "5.0650,40.8,1190,34.5\n",
        {1: [5.013, 5.039, 5.065], 3: [1200, 1210, 1190]},
    ),
    "bruker uxd": InstrumentFile(
        "; C:\\a.raw converted to UXD\n"
        "_FILEVERSION=2\n"
        "_SAMPLE='a'\n"
        "; Data for range 1\n"
        "_DRIVE='COUPLED'\n"
        "_STEPTIME=1.0\n"
        "_STEPSIZE=0.02\n"
        "_START=10.0\n"
        "_2THETACOUNTS\n"
        "      10.0000      120\n"
        "      10.0200      125\n"
        "      10.0400      121\n",
        {1: [10, 10.02, 10.04], 2: [120, 125, 121]},
    ),
    "rigaku ras": InstrumentFile(
        "*RAS_DATA_START\n"
        "*RAS_HEADER_START\n"
        '*FILE_COMMENT "a"\n'
        '*MEAS_SCAN_START "10.0000"\n'
        '*MEAS_SCAN_STEP "0.02"\n'
        "*RAS_HEADER_END\n"
        "*RAS_INT_START\n"
        "10.0000 120.0 1.0000\n"
        "10.0200 125.0 1.0000\n"
        "10.0400 121.0 1.0000\n"
        "*RAS_INT_END\n"
        "*RAS_DATA_END\n",
        {1: [10, 10.02, 10.04], 2: [120, 125, 121]},
    ),
    "ortec spe": InstrumentFile(
        "$SPEC_ID:\n"
        "Bg\n"
        "$SPEC_REM:\n"
        "DET# 1\n"
        "$DATE_MEA:\n"
        "05/03/2010 11:12:13\n"
        "$MEAS_TIM:\n"
        "1000 1010\n"
        "$DATA:\n"
        "0 6\n"
        "       0\n"
        "       2\n"
        "      12\n"
        "      40\n"
        "      12\n"
        "       1\n"
        "       0\n"
        "$ROI:\n"
        "0\n"
        "$ENER_FIT:\n"
        "0.1 0.36\n",
        {1: [0, 2, 12, 40, 12, 1, 0]},
        option="--skip 10 --header none",
    ),
    "touchstone s1p": InstrumentFile(
        "! VNA data\n! 2010-05-03\n# GHz S MA R 50\n1.0 0.90 -12.3\n1.1 0.91 -13.3\n1.2 0.92 -14.3\n",
        {1: [1, 1.1, 1.2], 2: [0.9, 0.91, 0.92]},
    ),
    "vna csv": InstrumentFile(
        "!CSV A.01.01\n"
        "!Agilent Technologies,N5230A,MY123,A.07.50\n"
        "!Date: Monday, May 03, 2010\n"
        "!Source: Standard\n"
        "BEGIN CH1_DATA\n"
        "Freq(Hz),S11(DB),S21(DB)\n"
        "1000000000,-12.1,-0.51\n"
        "1100000000,-12.2,-0.52\n"
        "1200000000,-12.3,-0.53\n"
        "END\n",
        {2: [-12.1, -12.2, -12.3], 3: [-0.51, -0.52, -0.53]},
    ),
    "rs fsv": InstrumentFile(
        "Type;FSV-7;\n"
        "Version;1.71;\n"
        "Date;03.May 2010;\n"
        "Mode;ANALYZER;\n"
        "Center Freq;1000000.000000;Hz\n"
        "Freq Offset;0.000000;Hz\n"
        "Span;10000.000000;Hz\n"
        "x-Axis;LIN;\n"
        "Start;995000.000000;Hz\n"
        "Stop;1005000.000000;Hz\n"
        "Level Offset;0.000000;dB\n"
        "Ref Position;100.000000;%\n"
        "y-Axis;LOG;\n"
        "Trace 1;;\n"
        "Trace Mode;CLR/WRITE;\n"
        "Detector;AUTOPEAK;\n"
        "Sweep Count;0;\n"
        "x-Unit;Hz;\n"
        "y-Unit;dBm;\n"
        "Values;4;\n"
        "995000.000000;-81.21;\n"
        "998333.333333;-81.22;\n"
        "1001666.666667;-81.23;\n"
        "1005000.000000;-81.24;\n",
        {1: [995000, 998333.333333, 1001666.666667, 1005000], 2: [-81.21, -81.22, -81.23, -81.24]},
        option="--skip 20 --header none",
    ),
    "ngspice wrdata": InstrumentFile(
        " 0.000000e+00  1.000000e+00  0.000000e+00  2.000000e+00 \n"
        " 1.000000e-03  1.100000e+00  1.000000e-03  2.100000e+00 \n"
        " 2.000000e-03  1.200000e+00  2.000000e-03  2.200000e+00 \n",
        {2: [1, 1.1, 1.2], 4: [2, 2.1, 2.2]},
    ),
    "comsol": InstrumentFile(
        "% Model:              a.mph\n"
        "% Version:            COMSOL 5.2.0.166\n"
        "% Date:               May 3 2010, 11:12\n"
        "% Dimension:          0\n"
        "% Nodes:              3\n"
        "% Expressions:        2\n"
        "% Description:        Temperature\n"
        "% t (s)                  T (K)\n"
        "0                        293.15\n"
        "0.1                      294.15\n"
        "0.2                      295.15\n",
        {1: [0, 0.1, 0.2], 2: [293.15, 294.15, 295.15]},
        said="the header in line 8",
    ),
    "xfoil": InstrumentFile(
        "  \n"
        "       XFOIL         Version 6.99\n"
        "  \n"
        " Calculated polar for: NACA 0012\n"
        "  \n"
        " 1 1 Reynolds number fixed          Mach number fixed         \n"
        "  \n"
        " xtrf =   1.000 (top)        1.000 (bottom)  \n"
        " Mach =   0.000     Re =     1.000 e 6     Ncrit =   9.000\n"
        "  \n"
        "   alpha    CL        CD       CDp       CM     Top_Xtr  Bot_Xtr\n"
        "  ------ -------- --------- --------- -------- -------- --------\n"
        "  -2.000  -0.2142   0.00583   0.00100   0.0004   0.8500   0.4500\n"
        "  -1.500  -0.1642   0.00573   0.00099   0.0003   0.8400   0.4600\n"
        "  -1.000  -0.1142   0.00563   0.00098   0.0002   0.8300   0.4700\n",
        {1: [-2, -1.5, -1], 2: [-0.2142, -0.1642, -0.1142], 3: [0.00583, 0.00573, 0.00563]},
    ),
    "graphtec": InstrumentFile(
        '"Vendor","GRAPHTEC Corporation"\n'
        '"Model","GL820","Version","Ver1.00"\n'
        '"Sampling interval","1s"\n'
        '"Total data points",3\n'
        '"Start time",2010-05-03,11:12:13\n'
        '"Amp settings"\n'
        '"CH","Signal name","Input","Range","Filter","Span"\n'
        '"CH1","","DC","5V","Off",+5.0000,-5.0000,V\n'
        '"CH2","","TEMP","K","Off",+1370.0,-200.0,degC\n'
        '"Data"\n'
        '"Number","Date&Time","ms","CH1","CH2","Alarm1-10"\n'
        '"NO.","Time","ms","V","degC","A1234567890"\n'
        "1,2010/05/03 11:12:13,  0,+  1.2340,+   23.4,LLLLLLLLLL\n"
        "2,2010/05/03 11:12:14,  0,+  1.2350,+   23.5,LLLLLLLLLL\n"
        "3,2010/05/03 11:12:15,  0,-  1.2360,+   23.6,LLLLLLLLLL\n",
        {4: [1.234, 1.235, -1.236], 5: [23.4, 23.5, 23.6]},
        option="--skip 10",
    ),
    "yokogawa dl": InstrumentFile(
        'Model Name,"DL9040"\n'
        'Comment,"a"\n'
        "BlockNumber,        1\n"
        'TraceName ,"CH1"\n'
        "BlockSize,3\n"
        'VUnit,"V"\n'
        "SampleRate,1.0E+09\n"
        "HResolution,1.0E-09\n"
        "HOffset,-1.0E-06\n"
        'HUnit,"s"\n'
        "Date,2010/05/03\n"
        "Time,11:12:13.00\n"
        "\n"
        "-1.0E-06,0.121\n"
        "-0.9E-06,0.122\n"
        "-0.8E-06,0.123\n",
        {1: [-1e-06, -9e-07, -8e-07], 2: [0.121, 0.122, 0.123]},
        option="--skip 13 --header none",
    ),
    "hantek": InstrumentFile(
        "#CHANNEL:CH1\n#CLOCK=1.000uS\n#SIZE=3\n#UNITS:V\n\n-0.121\n-0.122\n-0.123\n",
        {1: [-0.121, -0.122, -0.123]},
    ),
    "owon": InstrumentFile(
        "Unit:(mV)\n"
        ",CH1\n"
        "Frequency,F=1.000kHz\n"
        "Period,T=1.000ms\n"
        "PK-PK,Vp=200.0mV\n"
        "index,CH1_Voltage(mV)\n"
        "0,12.10\n"
        "1,12.20\n"
        "2,12.30\n",
        {2: [12.1, 12.2, 12.3]},
        option="--skip 5",
    ),
    "unit column": InstrumentFile(
        "ID,Time,Value,Unit\n1,11:12:13,998.1,mV\n2,11:12:14,999.2,mV\n3,11:12:15,1.0012,V\n",
        {3: [998.1, 999.2, 1.0012]},
        said="without the units of column `Unit` (V, mV)",
    ),
    "unit column same": InstrumentFile(
        "ID,Time,Value,Unit\n1,11:12:13,998.1,mV\n2,11:12:14,999.2,mV\n3,11:12:15,999.9,mV\n",
        {3: [998.1, 999.2, 999.9]},
    ),
    "testo": InstrumentFile(
        ";Datum;Zeit;1:T[°C];2:rF[%]\n"
        "1;03.05.2010;11:12:13;22,5;45,1\n"
        "2;03.05.2010;11:12:14;22,6;45,2\n"
        "3;03.05.2010;11:12:15;22,7;45,3\n",
        {4: [22.5, 22.6, 22.7], 5: [45.1, 45.2, 45.3]},
        encoding="latin-1",
    ),
    "chi eis": InstrumentFile(
        "May 3, 2010   11:12:13\n"
        "A.C. Impedance\n"
        "File: a.bin\n"
        "\n"
        "Init E (V) = 0\n"
        "\n"
        "Freq/Hz, Z'/ohm, Z\"/ohm, Z/ohm, Phase/deg\n"
        "\n"
        "1.000e+5, 1.201e+2, -1.100e+1, 1.206e+2, -5.23\n"
        "8.254e+4, 1.202e+2, -1.200e+1, 1.208e+2, -5.70\n"
        "6.813e+4, 1.203e+2, -1.300e+1, 1.210e+2, -6.17\n",
        {2: [120.1, 120.2, 120.3], 3: [-11, -12, -13], 5: [-5.23, -5.7, -6.17]},
    ),
    "zplot": InstrumentFile(
        "ZPLOT2 ASCII\n"
        " Sweep Frequency: Control Voltage\n"
        '"Date: 05-03-2010"\n'
        " Data Points: 3\n"
        "  Freq(Hz)        Ampl        Bias    Time(Sec)      Z'(a)      Z''(b)  GD  Err  Range\n"
        " End Comments\n"
        " 1.0000E+05,  1.0000E-02,  0.0000E+00,  1.1,  1.201E+02, -1.100E+01, 0, 0, 1\n"
        " 7.9433E+04,  1.0000E-02,  0.0000E+00,  2.1,  1.202E+02, -1.200E+01, 0, 0, 1\n"
        " 6.3096E+04,  1.0000E-02,  0.0000E+00,  3.1,  1.203E+02, -1.300E+01, 0, 0, 1\n",
        {5: [120.1, 120.2, 120.3], 6: [-11, -12, -13]},
    ),
    "palmsens": InstrumentFile(
        "Date and time:,2010-05-03 11:12:13\n"
        "Notes:,\n"
        "\n"
        "Cyclic Voltammetry: CV i vs E\n"
        "Date and time measurement:,2010-05-03 11:12:13\n"
        "CV i vs E\n"
        "V,µA\n"
        "-0.100,1.21\n"
        "-0.099,1.22\n"
        "-0.098,1.23\n",
        {1: [-0.1, -0.099, -0.098], 2: [1.21, 1.22, 1.23]},
        encoding="utf-16",
    ),
    "ppms": InstrumentFile(
        "[Header]\n"
        "; Quantum Design data file\n"
        "TITLE,a\n"
        "BYAPP,MPMS,1.0\n"
        "INFO,5.2,SAMPLE_MASS\n"
        "[Data]\n"
        "Comment,Time Stamp (sec),Temperature (K),Magnetic Field (Oe),Moment (emu),M. Std. Err. (emu),Transport Action\n"
        ",3481874001.1,300.01,1000.1,1.21E-4,1.1E-7,\n"
        ",3481874002.1,299.01,1000.2,1.22E-4,1.2E-7,\n"
        "heating,3481874003.1,298.01,1000.3,1.23E-4,1.3E-7,\n",
        {3: [300.01, 299.01, 298.01], 5: [0.000121, 0.000122, 0.000123]},
    ),
    "vernier csv": InstrumentFile(
        "Latest: Time (s),Latest: Potential (V)\n0,1.21\n0.1,1.22\n0.2,1.23\n",
        {2: [1.21, 1.22, 1.23]},
    ),
    "capstone": InstrumentFile(
        '"Time (s) Run #1","Velocity (m/s) Run #1"\n0.000,0.121\n0.050,0.122\n0.100,0.123\n',
        {2: [0.121, 0.122, 0.123]},
    ),
    "cassy": InstrumentFile(
        'MIN=-0,2\nMAX=6\nSCALE=1\nDEC=2\nDEF="time" t / s\tDEF="Voltage" U / V\n0\t1,21\n0,1\t1,22\n0,2\t1,23\n',
        {1: [0, 0.1, 0.2], 2: [1.21, 1.22, 1.23]},
    ),
    "tracker": InstrumentFile(
        "mass A\t\t\nt\tx\ty\n0.000\t1.21\t2.21\n0.033\t1.22\t2.22\n0.067\t1.23\t2.23\n",
        {2: [1.21, 1.22, 1.23], 3: [2.21, 2.22, 2.23]},
    ),
    "imagej": InstrumentFile(
        " \tArea\tMean\tMin\tMax\n1\t100.1\t12.1\t3\t40\n2\t101.1\t12.2\t4\t41\n3\t102.1\t12.3\t5\t42\n",
        {2: [100.1, 101.1, 102.1], 3: [12.1, 12.2, 12.3]},
    ),
    "gwyddion": InstrumentFile(
        "#   x    y\n#  [m]   [m]\n1.0e-9  2.1e-9\n2.0e-9  2.2e-9\n3.0e-9  2.3e-9\n",
        {1: [1e-09, 2e-09, 3e-09], 2: [2.1e-09, 2.2e-09, 2.3e-09]},
    ),
    "qpcr": InstrumentFile(
        "* Block Type = 96 well\n"
        "* Chemistry = SYBR\n"
        "* Experiment Run End Time = 2010-05-03\n"
        "\n"
        "[Results]\n"
        "Well\tSample Name\tCT\tQuantity\n"
        "A1\ts1\t21.1\t100.1\n"
        "A2\ts2\t22.1\t50.1\n"
        "A3\ts3\tUndetermined\t\n",
        {3: [21.1, 22.1, None]},
        option="--skip 5",
    ),
    "plate": InstrumentFile(
        "<>\t1\t2\t3\nA\t0.11\t0.12\t0.13\nB\t0.21\t0.22\t0.23\n",
        {2: [0.11, 0.21]},
        option="--header first",
    ),
    "biacore": InstrumentFile(
        "Fc=1 - 1_X\tFc=1 - 1_Y\tFc=2 - 1_X\tFc=2 - 1_Y\n"
        "-20.0\t0.11\t-20.0\t0.21\n"
        "-19.0\t0.12\t-19.0\t0.22\n"
        "-18.0\t0.13\t-18.0\t0.23\n",
        {2: [0.11, 0.12, 0.13], 4: [0.21, 0.22, 0.23]},
    ),
    "arduino arrows": InstrumentFile(
        "11:12:13.123 -> 23.4,45.1\n11:12:14.123 -> 23.5,45.2\n11:12:15.123 -> 23.6,45.3\n",
        {2: [45.1, 45.2, 45.3]},
        option="--header none",
    ),
    "spec file": InstrumentFile(
        "#F a.spec\n"
        "#E 1272880333\n"
        "#D Mon May 03 11:12:13 2010\n"
        "#O0 th tth\n"
        "\n"
        "#S 1 ascan th 0 1 2 1\n"
        "#D Mon May 03 11:12:14 2010\n"
        "#N 3\n"
        "#L th  Monitor  Det\n"
        "0 1000 12\n"
        "0.5 1001 13\n"
        "1 1002 14\n",
        {1: [0, 0.5, 1], 3: [12, 13, 14]},
    ),
    "spec two scans": InstrumentFile(
        "#F a.spec\n"
        "#S 1 ascan th 0 1 1 1\n"
        "#N 3\n"
        "#L th  Monitor  Det\n"
        "0 1000 12\n"
        "1 1002 14\n"
        "\n"
        "#S 2 ascan tth 5 6 1 1\n"
        "#N 3\n"
        "#L tth  Monitor  Det\n"
        "5 1000 22\n"
        "6 1002 24\n",
        {},
        option="",
    ),
    "nist xy err": InstrumentFile(
        "# Q (1/A)  I (1/cm)  dI\n0.01 120.1 1.2\n0.02 110.1 1.1\n0.03 100.1 1.0\n",
        {1: [0.01, 0.02, 0.03], 2: [120.1, 110.1, 100.1]},
    ),
    "sans ncnr": InstrumentFile(
        "FILE: A.SA3   CREATED: 03-MAY-2010 11:12:13\n"
        "LABEL: sample\n"
        "MON CNT   LAMBDA  DET ANG  DET DIST  TRANS  THICK  AVE   STEP\n"
        "1.00E+08   6.00     0.00     4.00    0.90   0.10  CIRCULAR  1.00\n"
        "The 6 columns are | Q (1/A) | I(Q) (1/cm) | std. dev. I(Q) (1/cm) | sigmaQ | meanQ | ShadowFactor|\n"
        "0.01  120.1  1.2  0.001  0.01  0.9\n"
        "0.02  110.1  1.1  0.001  0.02  1.0\n"
        "0.03  100.1  1.0  0.001  0.03  1.0\n",
        {1: [0.01, 0.02, 0.03], 2: [120.1, 110.1, 100.1]},
    ),
    "dashes": InstrumentFile(
        "time voltage\n---- -------\n0.0 1.21\n0.1 1.22\n0.2 1.23\n",
        {2: [1.21, 1.22, 1.23]},
    ),
    "footer mean": InstrumentFile(
        "t,x\n0,1.21\n1,1.22\n2,1.23\nMean,1.22\nStd. Dev.,0.01\n",
        {2: [1.21, 1.22, 1.23]},
        said="lines 5 to 6 left out, a summary",
    ),
    "footer blank mean": InstrumentFile(
        "t\tx\n0\t1.21\n1\t1.22\n2\t1.23\n\nAverage\t1.22\n",
        {2: [1.21, 1.22, 1.23]},
        said="line 6 left out, a summary",
    ),
    "keithley": InstrumentFile(
        '"Keithley 2400"\n"Test","IV"\nIndex,V,I,T\n1,0.1,1.1e-6,0.01\n2,0.2,1.2e-6,0.02\n3,0.3,1.3e-6,0.03\n',
        {2: [0.1, 0.2, 0.3], 3: [1.1e-06, 1.2e-06, 1.3e-06]},
    ),
    "ivium": InstrumentFile(
        "AC impedance\n\n\nfreq. /Hz\tZ1 /ohm\tZ2 /ohm\n1.0E5\t12.1\t-3.1\n8.0E4\t12.2\t-3.2\n6.0E4\t12.3\t-3.3\n",
        {2: [12.1, 12.2, 12.3]},
    ),
    "egg": InstrumentFile(
        "Segment  Point  E(V)  I(A)  Time(s)\n"
        "1  0  0.11  1.1e-6  0.1\n"
        "1  1  0.12  1.2e-6  0.2\n"
        "1  2  0.13  1.3e-6  0.3\n",
        {3: [0.11, 0.12, 0.13]},
    ),
    "thermo omnic": InstrumentFile(
        "4000.12,9.98E+01\n3998.19,9.97E+01\n3996.26,9.96E+01\n",
        {2: [99.8, 99.7, 99.6]},
    ),
    "wavemetrics itx": InstrumentFile(
        'IGOR\nWAVES/D\twave0\twave1\nBEGIN\n\t0\t1.21\n\t1\t1.22\n\t2\t1.23\nEND\nX SetScale x 0,1,"s", wave0\n',
        {-2: [0, 1, 2], -1: [1.21, 1.22, 1.23]},
        option="--skip 3",
    ),
    "magritek": InstrumentFile(
        "Chemical shift (ppm),Real,Imag\n12.01,0.11,0.21\n12.02,0.12,0.22\n",
        {2: [0.11, 0.12]},
    ),
    "dwd": InstrumentFile(
        "STATIONS_ID;MESS_DATUM;QN_9;TT_TU;RF_TU;eor\n"
        "         44;2010050300;    3;  12.1;  90.1;eor\n"
        "         44;2010050301;    3;  12.2;  91.1;eor\n"
        "         44;2010050302;    3;  -999;  92.1;eor\n",
        {4: [12.1, 12.2, -999]},
        said="-999 in column `TT_TU` as a number (none: `--missing -999`)",
    ),
    "licor": InstrumentFile(
        '"File opened"\t"2010-05-03 11:12:13"\n'
        '"Stability definition"\t"none"\n'
        "[Data]\n"
        "SysObs\tSysObs\tGasEx\tGasEx\n"
        "obs\ttime\tA\tgsw\n"
        "\ts\tumol m-2 s-1\tmol m-2 s-1\n"
        "1\t10.1\t12.1\t0.11\n"
        "2\t20.1\t12.2\t0.12\n"
        "3\t30.1\t12.3\t0.13\n",
        {3: [12.1, 12.2, 12.3], 4: [0.11, 0.12, 0.13]},
        option="--skip 4",
    ),
}
