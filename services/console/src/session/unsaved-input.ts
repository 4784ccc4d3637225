import { useEffect } from 'react';
import type { AroundNavHandler } from 'wouter';

/** Forms with input that would be lost, and the address of each, as path and query. */
const unsaved = new Map<object, string>();

const askBeforeUnload = (event: BeforeUnloadEvent): void => event.preventDefault();

const address = (): string => window.location.pathname + window.location.search;

/** While `isUnsaved`, the user is asked before another page or site is opened, also by the buttons of the browser. */
export function useUnsavedInput(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return;
    const form = {};
    unsaved.set(form, address());
    window.addEventListener('beforeunload', askBeforeUnload);
    return () => {
      unsaved.delete(form);
      if (unsaved.size === 0) forgetUnsavedInput();
    };
  }, [isUnsaved]);
}

/** Forgets that there is input, because it was saved or the user has agreed to lose it. Call it right before leaving the page. */
export function forgetUnsavedInput(): void {
  unsaved.clear();
  window.removeEventListener('beforeunload', askBeforeUnload);
}

/** Returns whether the page may be left: it has no unsaved input, or the user agrees to lose it. */
export const mayLeave = (question = 'Leave this page? What you have entered is not saved.'): boolean =>
  unsaved.size === 0 || window.confirm(question);

/** Navigates, unless that would lose input and the user does not agree. */
export const navigateIfSaved: AroundNavHandler = (navigate, to, options) => {
  if (mayLeave()) navigate(to, options);
};

/**
 * The buttons of the browser change the address before anybody can be asked. If the user stays, the address is put back
 * and the router, whose listener comes later, does not notice. A skip link keeps path and query, and is not asked about.
 */
function stayIfUnsaved(event: PopStateEvent): void {
  const [stayAt] = unsaved.values();
  if (stayAt === undefined || stayAt === address() || mayLeave()) return;
  event.stopImmediatePropagation();
  window.history.pushState(null, '', stayAt);
}
window.addEventListener('popstate', stayIfUnsaved, { capture: true });
