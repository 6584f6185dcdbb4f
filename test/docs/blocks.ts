/** The blocks of code in a page: between fences, or indented by four blanks more than the text around them. */

/** `language`: as the fence says it; '': a fence without one; 'indented'. `line`: of its beginning, counted from 1. */
export type Block = { readonly language: string; readonly text: string; readonly line: number }

const dedented = (lines: readonly string[]): string => {
  const filled = lines.filter((line) => line.trim() !== '')
  const depth = Math.min(...filled.map((line) => /^ */.exec(line)![0].length))
  return lines
    .map((line) => line.slice(depth))
    .join('\n')
    .trimEnd()
}
const FENCE = /^ *```(\w*) *$/
const INDENTED = /^ {4,}\S/

export const blocksIn = (page: string): readonly Block[] => {
  const lines = page.split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; at++) {
    const fence = FENCE.exec(lines[at]!)
    const begins = fence !== null || (INDENTED.test(lines[at]!) && lines[at - 1]?.trim() === '')
    if (!begins) continue
    const first = fence === null ? at : at + 1
    const isOver = (line: string): boolean =>
      fence === null ? line.trim() !== '' && !INDENTED.test(line) : FENCE.test(line)
    let end = first
    while (end < lines.length && !isOver(lines[end]!)) end++
    const language = fence === null ? 'indented' : fence[1]!
    blocks.push({ language, text: dedented(lines.slice(first, end)), line: at + 1 })
    at = end
  }
  return blocks
}

/** Command lines, each whole, without what a shell leaves out. */
export const commandLinesIn = ({ text }: Block): readonly string[] =>
  text
    .replaceAll(/\s*\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.replace(/(^|\s+)#.*$/, '').trim())
    .filter((line) => line !== '')
