/** Derives the verdict on each event of a request from Nova's answer (rest-api 8.5). Pure. */
import * as v from 'valibot'
import type { NovaEvent, NovaVerdict } from '../actors/neighbours.ts'
import type { NovaAnswer } from './novaCall.ts'

type Judged = Omit<NovaVerdict, 'tag'>

const NOTE_MAX = 300
const Element = v.object({ tag: v.string(), server_uuid: v.string(), code: v.number() })
/** Elements of another shape are ignored. */
const Body = v.object({ events: v.array(v.unknown()) })
const Fault = v.record(v.string(), v.object({ message: v.string() }))

const GONE = 'Nova knows no such server; a token without the admin role is answered the same'
const ELEMENTS: Readonly<Record<number, Omit<Judged, 'code'>>> = {
  200: { outcome: 'delivered' },
  // A normal race: the server is on no host yet, and Nova reads the state itself when it is.
  422: { outcome: 'delivered', note: 'the server is on no host yet' },
  404: { outcome: 'gone', note: GONE },
  400: { outcome: 'refused', note: 'Nova finds the event malformed' },
}
const HINTS: Readonly<Record<number, string>> = {
  401: 'the token for Nova is missing or has ended',
  403: 'the account for Nova needs the roles admin and service',
  404: 'no such path: does the URL of Nova hold its version?',
  406: 'Nova does not speak microversion 2.82',
}

export const decoded = (text: string): { readonly value: unknown } | null => {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return null
  }
}

/** One line of bounded length from the text of a server. */
export const noteOf = (text: string): string =>
  text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, NOTE_MAX)

export const faultText = (text: string): string => {
  const fault = v.safeParse(Fault, decoded(text)?.value)
  return fault.success
    ? Object.values(fault.output)
        .map(({ message }) => message)
        .join('; ')
    : text
}

const keyOf = (event: { readonly tag: string; readonly server_uuid: string }): string =>
  `${event.server_uuid.toLowerCase()} ${event.tag.toLowerCase()}`

const ofElement = (code: number): Judged => {
  const known = ELEMENTS[code]
  return known ? { ...known, code } : { outcome: 'retry', code, note: 'Nova could not take the event' }
}

/** Verdicts are matched by content, because Nova does not promise to keep the order. */
const byElement = (events: readonly NovaEvent[], value: unknown, unmentioned: Judged): readonly NovaVerdict[] => {
  const body = v.safeParse(Body, value)
  const elements = body.success ? body.output.events.filter((element) => v.is(Element, element)) : []
  const codes = new Map(elements.map((element) => [keyOf(element), element.code]))
  return events.map((event) => {
    const code = codes.get(keyOf(event))
    return { tag: event.tag, ...(code === undefined ? unmentioned : ofElement(code)) }
  })
}

export const allAs = (events: readonly NovaEvent[], judged: Judged): readonly NovaVerdict[] =>
  events.map(({ tag }) => ({ tag, ...judged }))

/** The events were not judged, so they are sent again: it does no harm in Nova to receive one twice. */
export const again = (code: number, note: string): Judged => ({ outcome: 'retry', code, note: noteOf(note) })

export const verdictsOf = (events: readonly NovaEvent[], { status, text }: NovaAnswer): readonly NovaVerdict[] => {
  const body = text === '' ? { value: undefined } : decoded(text)
  // The page of a proxy between this service and Nova is not an answer of Nova.
  if (status === 200 || status === 207) if (body === null) return allAs(events, again(status, 'the answer is not JSON'))
  if (status === 200) return byElement(events, body?.value, { outcome: 'delivered', code: 200 })
  if (status === 207) return byElement(events, body?.value, again(207, 'the answer does not mention the event'))
  const note = noteOf([HINTS[status], faultText(text)].filter(Boolean).join(': '))
  if (status === 400) return allAs(events, { outcome: 'refused', code: 400, note: note || 'Nova refused the request' })
  return allAs(events, again(status, note || 'Nova gave no answer that counts'))
}
