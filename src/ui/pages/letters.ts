/** Loads the pages of dead letters. */
import { offersOf } from '../actions.ts'
import { type Api, at } from '../api.ts'
import { letterActionState } from '../letterActions.ts'
import { LETTER_STATES, LetterDetail, Letters } from '../letterShapes.ts'
import * as shapes from '../shapes.ts'
import { type Loaded, mapped } from '../loaded.ts'
import { deliveryCounts } from './lists.ts'
import { type Load, PAGE_ROWS, filterOf } from './loader.ts'

export const letters: Load = async ({ api, query }) => {
  const { topic, ...more } = filterOf(query, ['topic', 'after'])
  const state = LETTER_STATES.find((each) => each === query['state']) ?? 'open'
  const only = topic === undefined ? '' : at`&topic=${topic}`
  const marker = more['after'] === undefined ? '' : at`&marker=${more['after']}`
  const path = at`/dead_letters?state=${state}&limit=${PAGE_ROWS}`
  const [read, overview] = await Promise.all([
    api.get(path + only + marker, Letters),
    api.get('/overview', shapes.Overview),
  ])
  const last = read.ok && read.value.dead_letters_links !== undefined ? read.value.dead_letters.at(-1) : undefined
  return {
    view: 'letters',
    title: 'Dead letters',
    body: {
      list: mapped(read, ({ dead_letters: some }) => some),
      state,
      topic: topic ?? null,
      counts: deliveryCounts(overview),
      turn: { later: null, earlier: last === undefined ? null : at`letters?state=${state}&after=${last.uuid}` + only },
    },
  }
}

export const letterIn = (api: Api, id: string): Promise<Loaded<LetterDetail>> =>
  api.get(at`/dead_letters/${id}`, LetterDetail)

export const letter: Load = async ({ api, id, may, query }) => {
  const one = await letterIn(api, id)
  return {
    view: 'letter',
    title: `Dead letter ${id}`,
    body: {
      letter: one,
      form: query['form'] === 'hex' ? 'hex' : 'text',
      offers: one.ok ? offersOf('letters', letterActionState(one.value), may) : [],
    },
  }
}
