/** Where the programs of vendors are that drivers run, unless an operator says otherwise. */

/** Of the OPAE SDK. */
export const FPGACONF = '/usr/bin/fpgaconf'
/** The folder with the program of XRT. */
export const XRT_FOLDER = '/opt/xilinx/xrt/bin'
/** Those that tell measurements: names in PATH, or paths. */
export const MEASURING = { nvidiaSmi: 'nvidia-smi', npuSmi: 'npu-smi' }
export type MeasuringPrograms = Readonly<typeof MEASURING>
