/** The functions that draw the views. A browser loads only the file of the view that it shows. */
import type { Screen, ViewName } from './screen.ts'
import type { Node } from './tags.ts'

type Views = { readonly [N in ViewName]: () => Promise<(screen: Screen<N>) => Node> }
/** One line for each view: `assets.ts` reads from these lines which file a page needs. */
export const VIEWS: Views = {
  home: async () => (await import('./home.ts')).homePage,
  arqs: async () => (await import('./lists.ts')).arqsPage,
  arq: async () => (await import('./arq.ts')).arqPage,
  opened: async () => (await import('./opened.ts')).openedPage,
  instance: async () => (await import('./instance.ts')).instancePage,
  hosts: async () => (await import('./lists.ts')).hostsPage,
  host: async () => (await import('./things.ts')).hostPage,
  devices: async () => (await import('./lists.ts')).devicesPage,
  device: async () => (await import('./things.ts')).devicePage,
  handles: async () => (await import('./lists.ts')).handlesPage,
  handle: async () => (await import('./things.ts')).handlePage,
  profiles: async () => (await import('./lists.ts')).profilesPage,
  profile: async () => (await import('./profile.ts')).profilePage,
  versions: async () => (await import('./profileDiff.ts')).versionsPage,
  drift: async () => (await import('./drift.ts')).driftPage,
  deliveries: async () => (await import('./lists.ts')).deliveriesPage,
  letters: async () => (await import('./letters.ts')).lettersPage,
  letter: async () => (await import('./letters.ts')).letterPage,
  explain: async () => (await import('./explain.ts')).explainPage,
  capacity: async () => (await import('./amounts.ts')).capacityPage,
  usage: async () => (await import('./amounts.ts')).usagePage,
  events: async () => (await import('./happening.ts')).eventsPage,
  programs: async () => (await import('./happening.ts')).programsPage,
  system: async () => (await import('./system.ts')).systemPage,
  act: async () => (await import('./act.ts')).actPage,
  sign_in: async () => (await import('./signIn.ts')).signInPage,
  trouble: async () => (await import('./troublePage.ts')).troublePage,
}

/** Draws the screens of one view, without the frame. */
export type Draw = (screen: Screen) => Node
/**
 * The cast is valid, since the table holds a function for the body of each view, and the screen is one of this view.
 */
export const drawnBy = async (view: ViewName): Promise<Draw> => (await VIEWS[view]()) as Draw
