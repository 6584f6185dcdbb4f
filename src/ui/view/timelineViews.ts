/** The views that show a timeline: the page of a request, and that of a file with a timeline. */
import type { Screen } from './screen.ts'

export type TimelineScreen = Screen<'arq' | 'opened'>
export const isTimelineView = (screen: Screen): screen is TimelineScreen =>
  screen.view === 'arq' || screen.view === 'opened'
