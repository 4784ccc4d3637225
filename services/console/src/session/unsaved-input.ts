import { useEffect } from 'react';
import type { AroundNavHandler } from 'wouter';

/** Forms with input that would be lost. */
const unsaved = new Set<object>();

const askBeforeUnload = (event: BeforeUnloadEvent): void => event.preventDefault();

/** While `isUnsaved`, the user is asked before another page or site is opened. */
export function useUnsavedInput(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return;
    const form = {};
    unsaved.add(form);
    window.addEventListener('beforeunload', askBeforeUnload);
    return () => {
      unsaved.delete(form);
      if (unsaved.size === 0) window.removeEventListener('beforeunload', askBeforeUnload);
    };
  }, [isUnsaved]);
}

/** Navigates, unless that would lose input and the user does not agree. */
export const navigateIfSaved: AroundNavHandler = (navigate, to, options) => {
  if (unsaved.size === 0 || window.confirm('Leave this page? What you have entered is not saved.'))
    navigate(to, options);
};
