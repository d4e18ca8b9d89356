/** How the /sexton directory gets into containers. */
export const DELIVERIES = ['image-volume', 'init-container'] as const;
export type Delivery = (typeof DELIVERIES)[number];
