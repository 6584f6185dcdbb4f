/** Commands as a document shows them. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const INDENT = '    '
/**
 * The indented blocks of a section, in their order and without their indentation. `heading`: as it stands in the
 * document.
 */
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

/**
 * What stands in a document for something of the reader's own, and what it is here. Throws where the document does not
 * say it.
 */
export const filledIn = (text: string, own: Readonly<Record<string, string>>): string =>
  Object.entries(own).reduce((filled, [shown, is]) => {
    if (!filled.includes(shown)) throw new Error(`the document does not say ${shown}: ${text}`)
    return filled.replaceAll(shown, is)
  }, text)
