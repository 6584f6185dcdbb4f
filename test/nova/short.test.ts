/** The short form for `.ci/run`. */
import { novaSuite } from './suite.ts'
import { boots } from './boots.ts'

novaSuite(boots)
