declare module "d3-force-3d" {
  export interface Force<N> {
    (alpha: number): void;
    strength(value: number | ((node: N) => number)): this;
    [key: string]: unknown;
  }
  export function forceX<N>(x?: number): Force<N>;
  export function forceY<N>(y?: number): Force<N>;
  export function forceCollide<N>(radius: (node: N) => number): Force<N>;
}
