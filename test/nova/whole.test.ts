/** All cases: `npm run e2e:nova`. */
import { alternatives } from './alternatives.ts'
import { boots } from './boots.ts'
import { clients } from './clients.ts'
import { evacuation } from './evacuation.ts'
import { events } from './events.ts'
import { functions } from './functions.ts'
import { joining } from './joining.ts'
import { lives } from './lives.ts'
import { share } from './share.ts'
import { servers } from './servers.ts'
import { moving } from './moving.ts'
import { novaSuite } from './suite.ts'
import { troubles } from './troubles.ts'
import { vgpus } from './vgpus.ts'

novaSuite(
  events,
  servers,
  boots,
  clients,
  functions,
  vgpus,
  alternatives,
  share,
  lives,
  troubles,
  joining,
  moving,
  evacuation,
)
