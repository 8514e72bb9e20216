// The shaders of cone_shader.h, GLSL 3.30.
#pragma once

namespace conelab::desktop {

inline constexpr const char* cone_vertex_source = R"(#version 330 core
void main() {  // One triangle that covers the window.
  vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  gl_Position = vec4(corner, 0.0, 1.0);
}
)";

inline constexpr const char* cone_fragment_source = R"(#version 330 core
uniform vec2 window, origin, source, u, v, lca, u_place, v_place;
uniform float density, unit, parameter, largest, depth_low, depth_high, depth_step;
uniform int model;
uniform bool infinite, penumbral, has_lca, valid, heat, levels, objects;
uniform vec4 ground, outside, ink, u_colour, v_colour, lca_colour, light_colour;
uniform sampler2D table;
out vec4 result;

const float pi = 3.14159265358979;

float asinh_(float x) { return log(x + sqrt(x * x + 1.0)); }
float sinh_(float x) { return 0.5 * (exp(x) - exp(-x)); }
float tanh_(float x) { float e = exp(-2.0 * x); return (1.0 - e) / (1.0 + e); }

// The model's coordinates to the half-plane; `inside` is positive inside the model.
vec2 half_plane(vec2 m, out float inside) {
  if (model == 0) { inside = m.y; return m; }
  if (model == 3) {
    inside = pi / 2.0 - abs(m.x);
    return exp(m.y) * vec2(sin(m.x), cos(m.x));
  }
  float n = dot(m, m);
  inside = 1.0 - sqrt(n);
  if (model == 2) { m /= 1.0 + sqrt(max(1.0 - n, 0.0)); n = dot(m, m); }
  float below = m.x * m.x + (1.0 - m.y) * (1.0 - m.y);
  return vec2(2.0 * m.x, 1.0 - n) / max(below, 1e-12);
}

// (axis, shadow, radial) of a point; a negative shadow lies inside the light.
vec3 locate(vec2 z) {
  if (infinite) {
    if (!penumbral) return vec3(z.x, z.y * sinh_(parameter), z.y);
    float under = parameter * parameter - z.y * z.y;
    return vec3(z.x, under > 0.0 ? z.y * z.y / (parameter + sqrt(under)) : -1.0, z.y);
  }
  vec2 s = vec2(z.x - source.x, z.y) / source.y;
  float n = dot(s, s), below = 1.0 + 2.0 * s.y + n;
  vec2 b = vec2(2.0 * s.x, n - 1.0) / below;
  float r = min(length(b), 0.9999999);
  float rho = log((1.0 + r) / (1.0 - r));
  float ratio = penumbral ? tanh_(parameter) / tanh_(rho) : sinh_(parameter) / sinh_(rho);
  float p = ratio < 1.0 ? asin(ratio) - (penumbral ? asin(tanh_(parameter)) : 0.0) : -1.0;
  return vec3(atan(b.y, b.x), p, rho);
}

float base_distance(float a, float b) {
  float d = abs(a - b);
  return infinite ? d : min(d, 2.0 * pi - d);
}

float radial(float p) {
  if (infinite) return penumbral ? sqrt(max(p * (2.0 * parameter - p), 0.0)) : p / sinh_(parameter);
  if (!penumbral) return asinh_(sinh_(parameter) / sin(p));
  float t = tanh_(parameter), b = asin(t);
  return asinh_(t / sqrt(max(sin(p) * sin(p + 2.0 * b), 1e-12)));
}

float distance_sinh2(vec2 a, vec2 b) {
  vec2 d = a - b;
  return dot(d, d) / (4.0 * a.y * b.y);
}

// Coverage of f >= 0 and of the line f = 0, by how much f changes over a pixel.
float fill(float f, float w) { return clamp(0.5 + f / w, 0.0, 1.0); }
float line(float f, float w, float width) { return clamp(width * 0.5 + 0.5 - abs(f) / w, 0.0, 1.0); }
void cover(inout vec3 colour, vec4 over, float part) { colour = mix(colour, over.rgb, over.a * part); }

void main() {
  vec2 pixel = vec2(gl_FragCoord.x, window.y * density - gl_FragCoord.y) / density;
  vec2 m = vec2(pixel.x - origin.x, origin.y - pixel.y) * unit;
  float inside;
  vec2 z = half_plane(m, inside);
  z.y = max(z.y, 1e-9);
  float border = unit / density;
  vec3 x = locate(z);
  bool lit = x.y < 0.0;
  float p = max(x.y, 1e-9);

  float base_u = base_distance(x.x, u.x), base_v = base_distance(x.x, v.x);
  float in_u = (u.y - p) - base_u, in_v = (v.y - p) - base_v;
  float in_lca = (p - lca.y) - base_distance(x.x, lca.x);
  float shadow = max(max(u.y, p), 0.5 * (u.y + p + base_u));
  float depth = radial(min(shadow, largest)) * (infinite ? -1.0 : 1.0);
  // Derivatives are taken outside of every branch.
  float w_u = fwidth(in_u), w_v = fwidth(in_v), w_lca = fwidth(in_lca);
  float step_of = depth / depth_step, w_step = fwidth(step_of);
  float light_form = infinite ? z.y - parameter : parameter - x.z;
  float w_light = fwidth(light_form);
  float reach = sinh_(0.5 * parameter);
  float ball_u = reach * reach - distance_sinh2(z, u_place);
  float ball_v = reach * reach - distance_sinh2(z, v_place);
  float w_ball_u = fwidth(ball_u), w_ball_v = fwidth(ball_v);

  vec3 colour = ground.rgb;
  if (valid && !lit) {
    if (heat) {
      float t = clamp((depth - depth_low) / (depth_high - depth_low), 0.0, 1.0);
      vec3 hot = texture(table, vec2(t, 0.5)).rgb;
      float faint = shadow > largest ? 0.18 : 0.55;
      colour = mix(colour, hot, faint);
    }
    if (levels && shadow <= largest) {
      float away = abs(step_of - floor(step_of + 0.5));
      cover(colour, vec4(ink.rgb, 0.45), line(away, max(w_step, 1e-9), 0.6));
    }
    if (has_lca) {
      cover(colour, lca_colour, fill(in_lca, w_lca));
      cover(colour, vec4(lca_colour.rgb, 0.9), line(in_lca, w_lca, 1.0));
    }
    cover(colour, v_colour, fill(in_v, w_v));
    cover(colour, u_colour, fill(in_u, w_u));
    cover(colour, vec4(v_colour.rgb, 1.0), line(in_v, w_v, 1.6));
    cover(colour, vec4(u_colour.rgb, 1.0), line(in_u, w_u, 1.6));
    if (objects) {
      cover(colour, vec4(u_colour.rgb, 0.5), fill(ball_u, w_ball_u));
      cover(colour, vec4(v_colour.rgb, 0.5), fill(ball_v, w_ball_v));
    }
  }
  if (penumbral || !infinite) {
    cover(colour, light_colour, fill(light_form, w_light));
    cover(colour, vec4(ink.rgb, 0.8), line(light_form, w_light, 1.0));
  }
  colour = mix(outside.rgb, colour, fill(inside, border));
  cover(colour, vec4(ink.rgb, 1.0), line(inside, border, 1.2));
  result = vec4(colour, 1.0);
}
)";

}  // namespace conelab::desktop
