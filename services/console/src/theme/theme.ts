import { useState } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const key = 'theme';
const isTheme = (stored: string | null): stored is Theme => stored === 'light' || stored === 'dark';

/** Returns the theme that was chosen in this browser; `system` follows the settings of the device. */
function readTheme(): Theme {
  const stored = window.localStorage.getItem(key);
  return isTheme(stored) ? stored : 'system';
}

function show(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Applies the stored theme. Call it before the first render. */
export const applyStoredTheme = (): void => show(readTheme());

/** The theme, and how to choose another one. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(readTheme);
  const choose = (chosen: Theme) => {
    if (chosen === 'system') window.localStorage.removeItem(key);
    else window.localStorage.setItem(key, chosen);
    show(chosen);
    setTheme(chosen);
  };
  return [theme, choose];
}
