/** Events as rows, on the page of events and after an action. */
import type { EventLine } from '../answerShapes.ts'
import { idLink, none } from './parts.ts'
import type { Column } from './rows.ts'
import { type Child, code, time } from './tags.ts'
import { instant, moment } from './words.ts'

const PAGES: Readonly<Record<string, string>> = {
  arq: 'arqs',
  device: 'devices',
  host: 'hosts',
  instance: 'instances',
  profile: 'profiles',
}
const subjectOf = ({ kind, subject }: EventLine): Child => {
  const page = PAGES[kind]
  return page === undefined ? code({ class: 'id' }, subject) : idLink(page, subject)
}
export const EVENT_COLUMNS: readonly Column<EventLine>[] = [
  { title: 'UTC', cell: ({ at }) => (at === '' ? none() : time({ datetime: at, title: moment(at) }, instant(at))) },
  { title: 'Event', cell: ({ type }) => type },
  { title: 'Kind', cell: ({ kind }) => kind },
  { title: 'About', cell: subjectOf },
  { title: 'Facts', cell: ({ facts }) => code({ class: 'faint' }, facts), kind: 'wide' },
]
