import { Link, useLocation } from 'wouter';
import './access.css';

const areas = [
  { path: '/access', label: 'Auth mounts' },
  { path: '/access/policies', label: 'Policies' },
  { path: '/access/tokens', label: 'Tokens' },
  { path: '/access/namespaces', label: 'Namespaces' },
] as const;

/** Leads to the areas of access. */
export function AccessNav() {
  const [location] = useLocation();
  return (
    <nav aria-label="Areas of access" className="row area-nav">
      {areas.map(({ path, label }) => (
        <Link key={path} href={path} aria-current={location === path ? 'page' : undefined}>
          {label}
        </Link>
      ))}
    </nav>
  );
}
