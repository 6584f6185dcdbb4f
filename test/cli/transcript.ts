/** What commands print, one after the other, with all that differs from run to run replaced by its name. */
import { commandHere } from '../support/commandHere.ts'

export type Replacement = readonly [found: RegExp | string, shown: string]

const USUAL: readonly Replacement[] = [
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, '<time>'],
  [/\b1[78]\d{11}\b/g, '<moment>'],
  [/127\.0\.0\.1:\d+/g, '<address>'],
  [/(@|last position )\d+(\.\d+)*|(--since )[\d.]+(?= )/g, '$1$3<position>'],
  [/"(position|lastPosition)":"[\d.]+"/g, '"$1":"<position>"'],
  [/"(seconds|memoryMb|p50|p99|max|workMs|lagMs)":[\d.]+/g, '"$1":<amount>'],
  [/host_work_ms=\d+/g, 'host_work_ms=<amount>'],
  [/"(key|publicKey)":"[\w-]{43}"/g, '"$1":"<key>"'],
  [/(host-key\/)[\w-]{43}/g, '$1<key>'],
  [/\b\d+(\.\d+)? (ms|s|min|MB|B|KiB|MiB)\b/g, '<amount> $2'],
]

type How = { readonly sorted?: boolean }

/**
 * `usual`: none where nothing differs, because time and ids are counted.
 * `sorted`: where several entities go on at one time, and the order of their lines is not always the same.
 */
export const openTranscript = (
  env: NodeJS.ProcessEnv,
  more: readonly Replacement[],
  usual: readonly Replacement[] = USUAL,
) => {
  const plain = (text: string): string =>
    [...more, ...usual].reduce((all, [found, shown]) => all.replaceAll(found, shown), text)
  const parts: string[] = []
  const note = (title: string, text: string, { sorted = false }: How = {}): void => {
    const lines = plain(text).trimEnd()
    parts.push(`== ${plain(title)}\n${sorted ? lines.split('\n').toSorted().join('\n') : lines}\n`)
  }
  const run = async (line: string, how: How = {}): Promise<string> => {
    const { code, out, err } = await commandHere(line.split(' '), env)
    note(`${line} (ends with ${code})`, `${out}${err === '' ? '' : `-- on standard error:\n${err}`}`, how)
    return out
  }
  return { note, run, text: () => parts.join('\n') }
}
