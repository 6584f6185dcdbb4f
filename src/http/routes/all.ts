/** Every route of the API. */
import { arqRoutes } from './arqs.ts'
import { attributeRoutes } from './attributes.ts'
import { capacityRoutes } from './capacity.ts'
import { deadLetterRoutes } from './deadLetters.ts'
import { deployableRoutes } from './deployables.ts'
import { deviceRoutes } from './devices.ts'
import { driftRoutes } from './drift.ts'
import { eventRoutes } from './events.ts'
import { handleRoutes } from './handles.ts'
import { hostRoutes } from './hosts.ts'
import { migrationRoutes } from './profileMigration.ts'
import { orphanRoutes } from './orphans.ts'
import { overviewRoutes } from './overview.ts'
import { checkRoutes } from './profileCheck.ts'
import { profileRoutes } from './profiles.ts'
import { versionRoutes } from './profileVersions.ts'
import { programRoutes } from './programs.ts'
import { systemRoutes } from './system.ts'
import { usageRoutes } from './usage.ts'
import { rootRoutes } from './root.ts'
import type { Route } from '../route.ts'

export const ROUTES: readonly Route[] = [
  ...rootRoutes(() => ROUTES),
  ...profileRoutes,
  ...versionRoutes,
  ...arqRoutes,
  ...deviceRoutes,
  ...deployableRoutes,
  ...attributeRoutes,
  ...hostRoutes,
  ...handleRoutes,
  ...eventRoutes,
  ...driftRoutes,
  ...orphanRoutes,
  ...migrationRoutes,
  ...checkRoutes,
  ...usageRoutes,
  ...capacityRoutes,
  ...programRoutes,
  ...overviewRoutes,
  ...deadLetterRoutes,
  ...systemRoutes,
]
