/** How the /sexton directory gets into containers. The first, the default, works with any Kubernetes. */
export const DELIVERIES = ['init-container', 'image-volume'] as const;
export type Delivery = (typeof DELIVERIES)[number];
