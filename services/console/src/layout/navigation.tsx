import { Link, useLocation } from 'wouter';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { type Page, pages } from '../pages/all-pages.ts';
import { type Permissions, usePermissions } from '../session/permissions.ts';

const paths = [...new Set(pages.flatMap(({ needs = [] }) => needs.map(({ path }) => path)))];

/** The pages that the token can use. */
export function Navigation() {
  const permissions = usePermissions(paths);
  return (
    <nav className="nav" aria-label="Pages of the console">
      {permissions.error !== null && (
        <ProblemNotice title="Nothing can be offered that needs a capability." error={permissions.error} />
      )}
      <ul>
        {pages
          .filter((page) => isOffered(page, permissions))
          .map(({ path, label }) => (
            <li key={path}>
              <NavigationLink path={path} label={label ?? path} />
            </li>
          ))}
      </ul>
    </nav>
  );
}

const isOffered = ({ label, needs }: Page, { may }: Permissions): boolean =>
  label !== undefined && (needs === undefined || needs.some(({ capability, path }) => may(capability, path)));

function NavigationLink({ path, label }: { path: string; label: string }) {
  const [location] = useLocation();
  const isCurrent = path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`);
  return (
    <Link href={path} aria-current={isCurrent ? 'page' : undefined}>
      {label}
    </Link>
  );
}
