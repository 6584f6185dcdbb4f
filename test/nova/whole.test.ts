/** All cases: `npm run e2e:nova`. */
import { boots } from './boots.ts'
import { novaSuite } from './suite.ts'

novaSuite(boots)
