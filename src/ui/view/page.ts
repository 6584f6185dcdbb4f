/** Draws a screen. The server calls it first, and the browser takes the result over and calls it again whenever something changed. */
import { arqPage } from './arq.ts'
import { homePage } from './home.ts'
import { layout } from './layout.ts'
import { arqsPage, deliveriesPage, devicesPage, handlesPage, hostsPage, profilesPage } from './lists.ts'
import { trouble } from './parts.ts'
import type { Screen, ViewName } from './screen.ts'
import { actPage, driftPage, signInPage, systemPage } from './service.ts'
import { type Node, div, h1, header } from './tags.ts'
import { devicePage, handlePage, hostPage, instancePage, profilePage } from './things.ts'

const PAGES: { readonly [N in ViewName]: (screen: Screen<N>) => Node } = {
  home: homePage,
  arqs: arqsPage,
  arq: arqPage,
  instance: instancePage,
  hosts: hostsPage,
  host: hostPage,
  devices: devicesPage,
  device: devicePage,
  handles: handlesPage,
  handle: handlePage,
  profiles: profilesPage,
  profile: profilePage,
  drift: driftPage,
  deliveries: deliveriesPage,
  system: systemPage,
  act: actPage,
  sign_in: signInPage,
  trouble: ({ title, body }) => div(null, header({ class: 'head' }, h1(null, title)), trouble(body.trouble)),
}

export const page = (screen: Screen): Node => {
  // the table holds a function for the body of each view, and the screen says which view it is
  const draw = PAGES[screen.view] as (screen: Screen) => Node
  return layout(screen, draw(screen))
}
