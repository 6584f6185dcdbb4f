/** Commands as a document shows them, run by a shell. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const INDENT = '    '
/** The indented blocks of a section, in their order and without their indentation. `heading`: as it stands in the document. */
export const blocksIn = (path: string, heading: string): readonly string[] => {
  const text = readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')
  const section = text.split(/^## /m).find((one) => one.startsWith(`${heading}\n`))
  if (section === undefined) throw new Error(`${path} has no section "${heading}"`)
  const blocks: string[][] = []
  let open = false
  for (const line of section.split('\n')) {
    const isCode = line.startsWith(INDENT)
    if (isCode && !open) blocks.push([])
    if (isCode) blocks.at(-1)!.push(line.slice(INDENT.length))
    open = isCode || (open && line === '')
  }
  return blocks.map((lines) => lines.join('\n'))
}

/** What stands in a document for something of the reader's own, and what it is here. Throws where the document does not say it. */
export const filledIn = (text: string, own: Readonly<Record<string, string>>): string =>
  Object.entries(own).reduce((filled, [shown, is]) => {
    if (!filled.includes(shown)) throw new Error(`the document does not say ${shown}: ${text}`)
    return filled.replaceAll(shown, is)
  }, text)

const COMMANDS_MS = 180_000
/** What was printed. Rejects with that and the errors unless each command succeeds. */
export const shell = async (script: string, env: NodeJS.ProcessEnv): Promise<string> => {
  const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: COMMANDS_MS,
  })
  let [printed, complained] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (part: string) => (printed += part))
  child.stderr.setEncoding('utf8').on('data', (part: string) => (complained += part))
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code !== 0) throw new Error(`exit ${code} of\n${script}\n${printed}\n${complained}`)
  return printed
}
