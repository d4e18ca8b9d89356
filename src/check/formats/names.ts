export const CHECK_FORMATS = ['text', 'json', 'sarif', 'junit', 'github', 'krm'] as const;
export const TIMELINES = ['none', 'text', 'svg', 'html'] as const;
