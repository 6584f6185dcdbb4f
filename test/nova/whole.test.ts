/** All cases: `npm run e2e:nova`. */
import { boots } from './boots.ts'
import { events } from './events.ts'
import { lives } from './lives.ts'
import { novaSuite } from './suite.ts'
import { troubles } from './troubles.ts'

novaSuite(events, boots, lives, troubles)
