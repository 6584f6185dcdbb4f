/** The frame of every page: navigation, search, how current the page is, and the user. */
import type { Screen, ViewName } from './screen.ts'
import { doneNote } from './done.ts'
import { isTimelineView } from './timelineViews.ts'
import {
  type Node,
  a,
  button,
  div,
  footer,
  form,
  header,
  input,
  kbd,
  li,
  main,
  nav,
  p,
  span,
  svg,
  path,
  ul,
} from './tags.ts'

type NavEntry = {
  readonly href: string
  readonly word: string
  readonly key: string
  readonly views: readonly ViewName[]
}
export const NAV_ENTRIES: readonly NavEntry[] = [
  { href: './', word: 'Overview', key: 'o', views: ['home'] },
  { href: 'arqs', word: 'Requests', key: 'r', views: ['arqs', 'arq', 'instance', 'opened'] },
  { href: 'hosts', word: 'Hosts', key: 'h', views: ['hosts', 'host'] },
  { href: 'devices', word: 'Devices', key: 'd', views: ['devices', 'device', 'handles', 'handle'] },
  { href: 'profiles', word: 'Profiles', key: 'p', views: ['profiles', 'profile', 'versions'] },
  { href: 'capacity', word: 'Capacity', key: 'c', views: ['capacity'] },
  { href: 'explain', word: 'Explain', key: 'x', views: ['explain'] },
  { href: 'drift', word: 'Drift', key: 'f', views: ['drift'] },
  { href: 'deliveries', word: 'Deliveries', key: 'n', views: ['deliveries', 'letters', 'letter'] },
  { href: 'events', word: 'Events', key: 'e', views: ['events'] },
  { href: 'programs', word: 'Programming', key: 'm', views: ['programs'] },
  { href: 'usage', word: 'Usage', key: 'u', views: ['usage'] },
  { href: 'system', word: 'System', key: 's', views: ['system'] },
]

/** The documents are beside the console, not below it. */
export const DOCUMENTS_HREF = '../docs/'

const logo = (): Node =>
  svg(
    { class: 'logo', viewBox: '0 0 20 20', width: 20, height: 20, 'aria-hidden': 'true' },
    path({ d: 'M2 10h3M7 10h2.2M11 10h1.6M14.4 10h1M17 10h.6', 'stroke-width': 8 }),
  )

const side = ({ view }: Screen): Node =>
  nav(
    { class: 'side', 'aria-label': 'Pages' },
    a({ class: 'brand', href: './' }, logo(), 'accelerando'),
    ul(
      null,
      ...NAV_ENTRIES.map(({ href, word, key, views }) =>
        li({ key: href }, a({ href, 'aria-current': views.includes(view) ? 'page' : undefined, 'data-go': key }, word)),
      ),
      li({ key: 'docs' }, a({ href: DOCUMENTS_HREF }, 'Documents')),
    ),
  )

/** A longer name or UUID is cut: its beginning tells users apart, and the title shows all of it. */
const NAME_SHOWN = 24
const who = ({ who }: Screen): Node | null => {
  if (who === null) return null
  if (!who.signedIn)
    return span(
      { class: 'who dim', title: 'The API authenticates nobody and listens on this machine only.' },
      'no sign-in',
    )
  return form(
    { class: 'who', method: 'post', action: 'sign-out' },
    span({ class: 'dim', title: `user ${who.user}, project ${who.project}` }, who.user.slice(0, NAME_SHOWN)),
    button({ class: 'quiet', type: 'submit' }, 'Sign out'),
  )
}

const top = (screen: Screen): Node =>
  header(
    { class: 'top' },
    form(
      { class: 'search', method: 'get', action: 'find', role: 'search' },
      input({
        type: 'search',
        name: 'q',
        // `defaultValue` instead of `value`: typed text stays when the page is redrawn
        defaultValue: screen.search,
        placeholder: 'Find a request, instance, device, host …',
        'aria-label': 'Find by UUID or name',
        autocomplete: 'off',
        spellcheck: 'false',
      }),
      kbd({ 'aria-hidden': 'true' }, '/'),
    ),
    span({ class: 'live', id: 'live', role: 'status' }),
    who(screen),
  )

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'search'],
  ['j k', 'next and previous row'],
  ['Enter', 'open it'],
  ['[ ]', 'previous and next page'],
  ['g then a letter', NAV_ENTRIES.map(({ key, word }) => `${key} ${word}`).join(', ')],
  ['?', 'these keys'],
  ['Esc', 'leave a field, close this'],
]
/** The keys of pages that show a timeline. */
const RECORDER_KEYS: typeof KEYS = [
  ['↑ ↓', 'previous and next step'],
  ['← →', 'previous and next party that works or is waited for'],
  ['Enter', 'the recorded event of the step'],
  ['t', 'bars, table, or both'],
  ['r', 'the recorded events of all steps'],
  ['[ ]', 'previous and next request of the instance'],
]
const keysOf = (screen: Screen): typeof KEYS => {
  if (!isTimelineView(screen)) return KEYS
  const own = new Set(RECORDER_KEYS.map(([key]) => key))
  return [...KEYS.filter(([key]) => !own.has(key)), ...RECORDER_KEYS]
}
const help = (screen: Screen): Node =>
  div(
    { class: 'help', id: 'help', hidden: true, role: 'dialog', 'aria-label': 'Keys', tabindex: -1 },
    p({ class: 'over' }, 'Keys'),
    ul(null, ...keysOf(screen).map(([key, does]) => li({ key }, kbd(null, key), span(null, does)))),
  )

export const layout = (screen: Screen, inside: Node): Node =>
  div(
    { class: 'frame' },
    a({ class: 'skip', href: `${screen.here}#content` }, 'To the content'),
    side(screen),
    div(
      { class: 'body' },
      top(screen),
      main(
        { id: 'content', tabindex: -1 },
        // filled by the browser while the page cannot be renewed
        div(
          { class: 'lost', id: 'lost', role: 'status', hidden: true },
          span({ id: 'lost-text' }),
          button({ class: 'quiet', type: 'button', 'data-retry': 'now' }, 'Ask again now'),
        ),
        screen.done === null ? null : doneNote(screen.done),
        inside,
      ),
      footer({ class: 'foot dim' }, 'All times are UTC.'),
    ),
    help(screen),
  )
