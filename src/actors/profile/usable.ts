/** Who may know of a device profile, and get accelerator requests of it. Pure. */
import type { ProjectId } from '../../identifiers.ts'
import type { Row } from '../runtime/views.ts'

/** Who looks at profiles. Where a question takes one and has none, all profiles are found. */
export type Viewer = {
  readonly caller: { readonly isAdmin: boolean; readonly projectId: ProjectId }
  /** An administrator also finds profiles of which no version is enabled. */
  readonly disabled: boolean
}

/** A project sees the profiles that are shared with it, or with all; only an administrator, on request, those without an enabled version. */
export const seenBy = (
  { caller: { isAdmin, projectId }, disabled }: Viewer,
  { enabled, projects }: Pick<Row<'profiles'>, 'enabled' | 'projects'>,
): boolean => (enabled || (disabled && isAdmin)) && (isAdmin || projects === null || projects.includes(projectId))
