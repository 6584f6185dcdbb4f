/** The short form for `.ci/run`. */
import { novaSuite } from './suite.ts'
import { boots } from './boots.ts'
import { functions } from './functions.ts'
import { joining } from './joining.ts'
import { vgpus } from './vgpus.ts'

novaSuite(boots, functions, vgpus, joining)
