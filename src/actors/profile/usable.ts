/** Decides who may see a device profile and create accelerator requests from it. Pure. */
import type { ProjectId } from '../../vocabulary/identifiers.ts'
import type { Row } from '../runtime/views.ts'

/** The caller who looks at profiles. Where a viewer is optional and absent, all profiles are found. */
export type Viewer = {
  readonly caller: { readonly isAdmin: boolean; readonly projectId: ProjectId }
  /** An administrator also finds profiles of which no version is enabled. */
  readonly disabled: boolean
}

/**
 * A project sees profiles that are shared with it or with all. Profiles without an enabled version are shown only to an
 * administrator, on request.
 */
export const seenBy = (
  { caller: { isAdmin, projectId }, disabled }: Viewer,
  { enabled, projects }: Pick<Row<'profiles'>, 'enabled' | 'projects'>,
): boolean => (enabled || (disabled && isAdmin)) && (isAdmin || projects === null || projects.includes(projectId))
