/** A link within the viewer: a real address, followed without loading the page again. */

import type { AnchorHTMLAttributes, MouseEvent, Ref } from "react";
import { go } from "../route.ts";

interface Props extends AnchorHTMLAttributes<HTMLAnchorElement> {
  href: string;
  replace?: boolean;
  ref?: Ref<HTMLAnchorElement>;
}

export function Link({ href, replace = false, onClick, ...rest }: Props) {
  function follow(event: MouseEvent<HTMLAnchorElement>) {
    onClick?.(event);
    const elsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (event.defaultPrevented || event.button !== 0 || elsewhere) return;
    event.preventDefault();
    go(href, { replace });
  }
  return <a href={href} onClick={follow} {...rest} />;
}
