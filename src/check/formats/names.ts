/** What `check` prints. */
export const CHECK_FORMATS = ['text', 'json', 'sarif', 'junit', 'github', 'krm'] as const;
/** How `check` draws a stop. */
export const TIMELINES = ['none', 'text', 'svg', 'html'] as const;
