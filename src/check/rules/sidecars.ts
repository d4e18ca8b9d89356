/** What the containers of a pod are for: proxies, agents, and those that do the work. */
import { SIDECARS } from '../../config/notation/sidecars.ts';
import { type Container, givenWords } from '../input/pod.ts';
import { referenceOf } from '../stop/images.ts';
import type { ContainerView, PodView } from '../stop/plan.ts';

/** It drains under sexton, or may do so: its configuration is not among the inputs. */
export function mayDrain({ sexton, member }: ContainerView): boolean {
  if (member === undefined) return sexton !== undefined;
  return member.drain !== undefined || member.preStop !== undefined;
}

/** Istio writes the rest of it, with a probe, when the pod is made: istio.io, gateway injection. */
export function isInjected({ image }: Container): boolean {
  return image === 'auto';
}

/** As a sidecar and as a gateway it drains by itself. */
export function isIstio({ image = '' }: Container): boolean {
  return SIDECARS.istio?.image.test(referenceOf(image).repository) === true;
}

const AGENTS = /(^|\/)(fluent-bit|fluentd|filebeat|promtail|vector|opentelemetry-collector(-contrib)?)$/;

export function isAgent({ image = '' }: Pick<Container, 'image'>): boolean {
  return AGENTS.test(referenceOf(image).repository);
}

export function isProxy(container: Pick<Container, 'image' | 'command' | 'args'>): boolean {
  const { repository } = referenceOf(container.image ?? '');
  const line = givenWords(container).join(' ');
  return Object.values(SIDECARS).some((one) => one.image.test(repository) && (one.words?.test(line) ?? true));
}

/** Whatever the pod is for, it does not do its work. */
export function isHelper(container: Pick<Container, 'image' | 'command' | 'args'>): boolean {
  return isProxy(container) || isAgent(container);
}

export function isSidecar({ container, sexton }: ContainerView): boolean {
  return sexton === undefined && isHelper(container);
}

export function ordinaryOf({ containers }: PodView): readonly ContainerView[] {
  return containers.filter(({ container }) => !container.isNative);
}

/** An ordinary sidecar without a hook of its own, beside another container that does the work. */
export function isBesideMain(one: ContainerView, view: PodView): boolean {
  const { isNative, preStop } = one.container;
  return !isNative && preStop === undefined && isSidecar(one) && !ordinaryOf(view).every(isSidecar);
}
