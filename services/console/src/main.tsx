import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { applyStoredTheme } from './theme/theme.ts';
import { LoadFailure } from './upgrade/load-page.ts';
import './theme/tokens.css';
import './theme/base.css';

/** A page that could not be loaded says so itself; anything else is a fault, which belongs in the log of the browser. */
const onCaughtError = (error: unknown): void => {
  if (!(error instanceof LoadFailure)) reportError(error);
};

applyStoredTheme();
createRoot(document.getElementById('root') as HTMLElement, { onCaughtError }).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
