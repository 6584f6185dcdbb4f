/** The output of `--debug`: the heads of requests and answers, without secrets. */
import { inOneLine } from '../../vocabulary/text.ts'

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

const SECRET =
  /^(?:authorization|proxy-authorization|cookie|set-cookie|x-(?:auth|subject|service|storage)-token)$|secret|password/i
const HIDDEN = '(hidden)'

const headLines = (mark: string, headers: Headers): readonly string[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [`${mark} ${name}: ${SECRET.test(name) ? HIDDEN : String(value)}`],
  )

/** Removes user and password from an address. */
const plainUrl = (text: string): string => {
  const url = new URL(text)
  if (url.username === '' && url.password === '') return text
  url.username = 'hidden'
  url.password = ''
  return url.href
}

export const askedLines = (method: string, url: string, headers: Headers): readonly string[] => [
  `> ${method} ${plainUrl(url)}`,
  ...headLines('>', headers),
]
export const answeredLines = (status: number, headers: Headers): readonly string[] => [
  `< ${status}`,
  ...headLines('<', headers),
]

export const tellHeads = (lines: readonly string[]): void => {
  for (const line of lines) process.stderr.write(`${inOneLine(line)}\n`)
}
