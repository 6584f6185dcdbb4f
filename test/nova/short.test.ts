/** The short form for `.ci/run`. */
import { alternatives } from './alternatives.ts'
import { boots } from './boots.ts'
import { clients } from './clients.ts'
import { events } from './events.ts'
import { functions } from './functions.ts'
import { joining } from './joining.ts'
import { servers } from './servers.ts'
import { novaSuite } from './suite.ts'
import { vgpus } from './vgpus.ts'

novaSuite(events, servers, boots, clients, functions, vgpus, alternatives, joining)
