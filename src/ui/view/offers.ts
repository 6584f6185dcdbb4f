/**
 * The actions on the entity of a page, as links to a page that asks for confirmation. An action that is impossible now
 * looks so, and its reason stands below.
 */
import type { Offer } from './screen.ts'
import { type Child, type Node, a, div, p, span } from './tags.ts'

const reasons = (list: readonly Offer[]): Child => {
  const impossible = list.filter(({ not }) => not !== null)
  return impossible.length === 0
    ? null
    : p({ class: 'reasons dim' }, ...impossible.map(({ name, label, not }) => span({ key: name }, `${label}: ${not}.`)))
}
const offer = (here: string, { name, label, grave, not }: Offer): Node =>
  not === null
    ? a({ class: grave ? 'button grave' : 'button', href: `${here}/do/${name}`, key: name }, label)
    : a({ class: 'button off', href: `${here}/do/${name}`, key: name, title: not, 'aria-disabled': 'true' }, label)
export const offers = (here: string, list: readonly Offer[]): Node =>
  div({ class: 'offers' }, ...list.map((each) => offer(here, each)), reasons(list))
