/** The short form for `.ci/run`. */
import { novaSuite } from './suite.ts'
import { boots } from './boots.ts'
import { functions } from './functions.ts'
import { joining } from './joining.ts'

novaSuite(boots, functions, joining)
