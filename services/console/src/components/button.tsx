import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components';
import './button.css';

interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'style'> {
  /** `danger` for what cannot be undone. Default: `plain`. */
  kind?: 'plain' | 'primary' | 'danger';
}

/** A button. With `isPending`, it shows that its action is in progress and ignores further presses. */
export const Button = ({ kind = 'plain', ...rest }: ButtonProps) => (
  <AriaButton {...rest} className={`button button-${kind}`} />
);
