/** The page that asks before an action is carried out. */
import type { Impact } from '../shapes.ts'
import { driftOf } from './drift.ts'
import { command, facts, id, idLink, link, mark, panel, trouble } from './parts.ts'
import type { Bodies, FilledField, Screen } from './screen.ts'
import {
  type Child,
  type Node,
  a,
  button,
  code,
  datalist,
  div,
  form,
  h1,
  header,
  input,
  label,
  li,
  option,
  p,
  span,
  textarea,
  ul,
} from './tags.ts'
import { many } from './words.ts'

const SHOWN = 20
const EFFECTS: Readonly<Record<Impact['effect'], string>> = {
  kept: 'They stay as they are.',
  unbound: 'They are unbound by force.',
}
/** A line for each of the first ones, and one that counts the others. */
const named = (list: readonly string[], what: string, line: (each: string) => Node): readonly Node[] => [
  ...list.slice(0, SHOWN).map(line),
  ...(list.length > SHOWN
    ? [li({ key: `more ${what}`, class: 'dim' }, `and ${many(list.length - SHOWN, `more ${what}`)}`)]
    : []),
]
const concern = (given: Bodies['act']['concerned']): Child => {
  if (given === null) return null
  if (!given.ok) return div({ class: 'concern' }, trouble(given.error))
  const { refusal, effect, instances, projects, arqs, arqs_left_out: more } = given.value
  const held = arqs.length + more
  const whom = `${many(held, 'request')} of ${many(instances.length, 'instance')} in ${many(projects.length, 'project')}`
  return div(
    { class: 'concern' },
    refusal === null ? null : p({ class: 'headline' }, mark('bad'), `It would be refused: ${refusal}`),
    p(
      { class: 'headline' },
      mark(held === 0 ? 'idle' : 'busy'),
      held === 0 ? 'Nobody uses it at present.' : `In use: ${whom}. ${EFFECTS[effect]}`,
    ),
    held === 0
      ? null
      : ul(
          { class: 'plain' },
          ...named(projects, 'project', (project) => li({ key: project }, 'Project ', id(project))),
          ...named(instances, 'instance', (uuid) => li({ key: uuid }, 'Instance ', idLink('instances', uuid))),
        ),
  )
}

const repaired = (given: Bodies['act']['repairs'], now: number): Child => {
  if (given === null) return null
  if (!given.ok) return trouble(given.error)
  return div(
    { class: 'concern' },
    p({ class: 'headline' }, mark('busy'), 'What would be repaired, if it is still so:'),
    ...given.value.map((each) =>
      driftOf({ ...each, entries: each.entries.filter(({ repairs }) => repairs.length > 0) }, now),
    ),
  )
}

const asked =
  (first: FilledField | undefined) =>
  (field_: FilledField): Node => {
    const { name, title, hint, kind, optional, max, value, choices } = field_
    if (kind === 'hidden') return input({ type: 'hidden', name, value, key: name })
    const list = `choices-${name}`
    const plain = { name, required: optional !== true, maxlength: max, autocomplete: 'off' }
    return label(
      { key: name },
      span(null, title, hint === undefined ? null : span({ class: 'dim' }, ` · ${hint}`)),
      kind === 'area'
        ? textarea({ ...plain, rows: 8, spellcheck: 'false', autofocus: field_ === first }, value)
        : input({
            ...plain,
            ...(kind === 'date' && { type: 'date' }),
            ...(choices.length > 0 && { list }),
            value,
            autofocus: field_ === first,
          }),
      choices.length > 0
        ? datalist({ id: list }, ...choices.map((one) => option({ value: one.value, key: one.value }, one.title)))
        : null,
    )
  }

export const actPage = ({ body, here, now }: Screen<'act'>): Node =>
  div(
    { class: 'narrow' },
    header(
      { class: 'head' },
      div(
        null,
        p(
          { class: 'over' },
          link(body.back, body.kind, ...(body.id === '' ? [] : [' ', code({ class: 'id' }, body.id)])),
        ),
        h1(null, body.label),
      ),
    ),
    p({ class: 'lead' }, body.sentence),
    body.error === null ? null : trouble(body.error),
    body.facts.length === 0 ? null : facts(body.facts),
    concern(body.concerned),
    body.not === null ? repaired(body.repairs, now) : null,
    body.not === null
      ? form(
          { method: 'post', action: here, class: 'form' },
          input({ type: 'hidden', name: 'command', value: body.commandId }),
          input({ type: 'hidden', name: 'since', value: body.since }),
          body.sent === null ? null : input({ type: 'hidden', name: 'sent', value: body.sent }),
          ...body.fields.map(asked(body.fields.find(({ kind }) => kind !== 'hidden'))),
          div(
            { class: 'form-end' },
            button({ type: 'submit', class: body.grave ? 'button grave full' : 'button full' }, body.label),
            body.checks
              ? button(
                  { type: 'submit', class: 'button', name: 'check', value: 'first', formnovalidate: true },
                  'Check first',
                )
              : null,
            a({ class: 'button', href: body.back }, 'Cancel'),
          ),
        )
      : div(null, p({ class: 'headline' }, mark('held'), body.not), a({ class: 'button', href: body.back }, 'Back')),
    panel('The same as a command', null, command(body.command)),
  )
