/** What a host, a person or a file may hold where a program expects something else, for property tests. */
import * as fc from 'fast-check'

const LINES = ['10de  NVIDIA', '\t20f1  A100', 'Device Minor: \t 1', '22 1 259:9 / / rw - ext4 /dev/nvme0n1 rw']
const PARTS = ['x', '0', '\0', '\t', ' ', '-', ' : ', '{"a":', '[', '\u{1F600}', ...LINES.map((one) => `${one}\n`)]
const HUGE = 60_000
const huge = fc
  .tuple(fc.constantFrom(...PARTS), fc.constantFrom('', '\n', '!'))
  .map(([part, end]) => part.repeat(Math.ceil(HUGE / part.length)) + end)
const USUAL = ['', '\n', '0x10de', '0xffff\n', '0x030200', '-1', '1e999', '(null)', '[]', 'null', '{"__proto__": 1}']
const KEPT = ['{"made":{"x":{}}}', '{"made":{"x":{"address":"?","type":"t","mark":""}}}', '{"loaded":[]}']
const LINKS = ['../../..', '/', '../../../devices/pci0000:3b/0000:3b:00.0', '0000:3b:00.0', '../drivers/vfio-pci']

export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.json(),
  fc.integer().map(String),
  fc.constantFrom(...USUAL, ...KEPT, ...LINKS, ...LINES),
  huge,
)
const NAMES = ['.', '..', '__proto__', 'constructor', 'vendor', 'nvme0n1', 'hwmon0', 'gi1', 'gpu0', 'mig', 'nvidia-223']
const PLACES = ['0000:3b:00.0', '0000:3B:00.0', 'ffff:ff:1f.7', '10000:00:00.0', 'intel-fpga-dev.0', 'region0']
/** In a folder. */
export const anyName: fc.Arbitrary<string> = fc.oneof(
  fc.string({ minLength: 1, maxLength: 20 }),
  fc.constantFrom(...NAMES, ...PLACES),
)

/** A mistake of the program, and no reason that an operator could do something with. */
export const isMistake = (error: unknown): boolean =>
  !(error instanceof Error) ||
  [TypeError, RangeError, SyntaxError].some((kind) => error instanceof kind) ||
  error.message.trim() === ''
