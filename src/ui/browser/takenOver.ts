/** Which screen a page shows, once the browser has taken it over. Knows no document. */
import { type PageError, lossOf } from '../loaded.ts'
import type { Screen, ViewName } from '../view/screen.ts'
import { pastIn } from '../view/ways.ts'

/** Views that are not renewed: answers to one question, and forms. */
const STATIC: ReadonlySet<ViewName> = new Set(['act', 'sign_in', 'trouble', 'explain', 'usage', 'opened'])
/** The past does not change. */
const isPast = (screen: Screen): boolean => screen.view === 'arq' && pastIn(screen.body.asOf, screen.now) !== null
export const isRenewed = (screen: Screen): boolean => !STATIC.has(screen.view) && !isPast(screen)

/** What an action has recorded is asked for only as long as something of it is missing. */
const isOver = (done: Screen['done']): boolean => done?.recorded === undefined || done.tone !== 'busy'

export type TakenOver = {
  readonly shown: () => Screen
  /**
   * The screen as it is drawn: with what was done, which is kept from now on, and with the text of the search as it
   * was.
   */
  readonly drawn: (screen: Screen) => Screen
  /** Whether the address need not say any more what was done. */
  readonly isOver: () => boolean
  /**
   * Takes a renewed screen; `merged`: as it is to be shown. Returns what kept it from being shown: old rows are better
   * than none, so a page with rows is not replaced by one that says why there are none.
   */
  readonly take: (
    screen: Screen,
    merged: (screen: Screen) => Screen,
  ) => { readonly loss: PageError | null; readonly draws: boolean }
}
export const takenOver = (first: Screen): TakenOver => {
  let [shown, done] = [first, first.done]
  return {
    shown: () => shown,
    drawn: (screen) => {
      done = screen.done ?? done
      return { ...screen, done, search: first.search }
    },
    isOver: () => isOver(done),
    take: (screen, merged) => {
      const loss = lossOf(screen.body)
      if (loss !== null && lossOf(shown.body) === null) return { loss, draws: false }
      shown = loss === null ? merged(screen) : screen
      return { loss, draws: true }
    },
  }
}
