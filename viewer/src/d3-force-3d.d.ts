declare module "d3-force-3d" {
  export interface Force {
    (alpha: number): void;
    strength(value: number): this;
    [key: string]: unknown;
  }
  export function forceX(x?: number): Force;
  export function forceY(y?: number): Force;
  export function forceCollide<N>(radius: (node: N) => number): Force & { iterations(n: number): Force };
}
