import { type Theme, useTheme } from '../theme/theme.ts';

/** Light, dark, or as the device. */
export function ThemeSelect() {
  const [theme, choose] = useTheme();
  return (
    <label className="theme-select">
      Theme
      <select className="input" value={theme} onChange={(event) => choose(event.target.value as Theme)}>
        <option value="system">Device</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
