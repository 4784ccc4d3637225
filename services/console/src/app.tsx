import { Suspense } from 'react';
import { Route, Router, Switch } from 'wouter';
import { Loading } from './components/loading.tsx';
import { Layout } from './layout/layout.tsx';
import { LiveUpdates } from './live/live-updates.tsx';
import { pages } from './pages/all-pages.ts';
import { NotFoundPage } from './pages/not-found-page.tsx';
import { SessionProvider } from './session/session-provider.tsx';
import { navigateIfSaved } from './session/unsaved-input.ts';
import { PageBoundary } from './upgrade/page-boundary.tsx';

/** The console: the sign-in page, and for a signed-in user the page of the address. */
export const App = () => (
  <Router base="/ui" aroundNav={navigateIfSaved}>
    <SessionProvider>
      <LiveUpdates>
        <Layout>
          <PageBoundary>
            <Suspense fallback={<Loading what="the page" />}>
              <Switch>
                {pages.map(({ path, component }) => (
                  <Route key={path} path={path} component={component} />
                ))}
                <Route component={NotFoundPage} />
              </Switch>
            </Suspense>
          </PageBoundary>
        </Layout>
      </LiveUpdates>
    </SessionProvider>
  </Router>
);
