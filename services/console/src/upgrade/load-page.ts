import { type ComponentType, createElement, lazy } from 'react';

/** The code of a page could not be loaded: there is no connection, or an upgrade has replaced the file. */
export class LoadFailure extends Error {
  override readonly name = 'LoadFailure';
}

/** The pages that could not be loaded, each with what has it loaded again: React remembers a failure for ever. */
const failed = new Set<() => void>();

/** Has the pages that could not be loaded try again when they are shown. */
export function loadFailedAgain(): void {
  for (const reset of failed) reset();
  failed.clear();
}

/** A page whose code is loaded when it is first shown. */
export function loadedPage(load: () => Promise<ComponentType>): ComponentType {
  const attempt = () =>
    lazy(async () => {
      try {
        return { default: await load() };
      } catch (cause) {
        failed.add(reset);
        throw new LoadFailure('the page could not be loaded', { cause });
      }
    });
  let loaded = attempt();
  const reset = () => {
    loaded = attempt();
  };
  return () => createElement(loaded);
}
