import { type Destination, settingsOf } from './destination-api.ts';
import './destinations.css';

/** The settings that are not empty; stored secrets are asterisks. */
export function DestinationSettings({ destination }: { destination: Destination }) {
  const settings = Object.entries(settingsOf(destination)).filter(([, value]) => shown(value) !== '');
  return (
    <details className="card">
      <summary>Settings</summary>
      <dl className="settings">
        {settings.map(([name, value]) => (
          <div key={name} className="setting">
            <dt>{name}</dt>
            <dd>{shown(value)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([key, text]) => `${key} = ${text}`)
      .join(', ');
  return String(value ?? '');
}
