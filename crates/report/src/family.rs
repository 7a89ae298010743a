//! A family of languages as a picture: its tree, the proto-language at the left and branches as long as the distances
//! measured along them, beside the matrix of measured distances, whose rows are the tree's.

use crate::draw::{Canvas, Colour, DARK_CELL, DrawTarget, LABEL, TICK, Width, frame, heat_class, width_of};
use crate::wording::listed;
use invitro_results::{FamilyNode, FamilyTree};

/// The picture of a family.
pub struct FamilyPicture {
    tree: FamilyTree,
    /// The places of the nodes from top to bottom, each before what descends from it.
    order: Vec<usize>,
}

const EDGE: f64 = 4.0;
/// The height of a language's row.
const ROW: f64 = 17.0;
/// Cells get numbers from this width on.
const NUMBERED: f64 = 13.5;

/// Where a node is drawn.
#[derive(Clone, Copy)]
struct NodePlace {
    x: f64,
    y: f64,
}

impl FamilyPicture {
    pub fn new(tree: FamilyTree) -> FamilyPicture {
        let mut order = Vec::new();
        descend(&tree, None, &mut order);
        FamilyPicture { tree, order }
    }

    /// What it shows, in a sentence for those who cannot see it.
    pub fn description(&self) -> String {
        let edge = |node: &FamilyNode| {
            let parent = node.parent.as_deref().unwrap_or("the proto-language");
            format!("{} is {:.2} from {parent}", node.name, node.measured)
        };
        let edges: Vec<String> = self.order.iter().map(|&at| edge(&self.tree.nodes[at])).take(12).collect();
        let more = self.order.len() - edges.len();
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        format!("Distances of stems, measured: {}{more}", listed(&edges))
    }

    /// What the picture means.
    pub fn caption(&self) -> String {
        let masked = self.tree.languages().any(|node| node.masked > 0);
        let ancestors = self.tree.nodes.iter().any(|node| !node.spoken);
        let scripts = self.tree.nodes.iter().any(|node| node.script > 0);
        format!(
            "How the languages descend from each other. A branch is as long as the stems at its ends are apart, measured as \
             normalised edit distance over that of unrelated words; the matrix has the same for every two languages. Distances \
             along a path do not add up: edit distance saturates.{}{}{}",
            if masked { " †: has masked words." } else { "" },
            if ancestors { " A ring is a language without text." } else { "" },
            if scripts { " Words are compared before a script of their own is written." } else { "" },
        )
    }

    pub fn svg(&self, width: Width, target: DrawTarget, description: &str) -> String {
        let mut canvas = Canvas::new(target);
        let total = width.points();
        let labels: Vec<(String, String)> = self.order.iter().map(|&at| self.label(at)).collect();
        let labelled: Vec<_> = self.order.iter().zip(&labels).filter(|(at, _)| self.is_labelled(**at)).collect();
        let widest = |of: fn(&(String, String)) -> f64| labelled.iter().map(|(_, label)| of(label)).fold(0.0, f64::max);
        let names = widest(|(name, _)| bold_width(name)) + 5.0;
        let label_room = names + widest(|(_, more)| width_of(more) * TICK) + 4.0;
        let languages = self.languages();
        let side_by_side = width == Width::Page;
        let side = match languages.len() {
            0..=5 => 24.0,
            count => (0.48 * total / count as f64).min(ROW),
        };
        let matrix = side * languages.len() as f64;
        let head = 12.0 + if self.has_wide_names(side) { self.names_height() } else { 0.0 };
        let top = if side_by_side { head + 6.0 } else { 8.0 };
        let room = if side_by_side {
            total - 2.0 * EDGE - label_room - matrix - 16.0
        } else {
            total - 2.0 * EDGE - label_room
        };
        let places = self.places(EDGE + 3.0, top, (room - 10.0).max(30.0));
        let column = EDGE + room.max(43.0);
        self.draw_tree(&mut canvas, &places, column);
        for (&at, (name, more)) in self.order.iter().zip(&labels) {
            if self.is_labelled(at) {
                let y = places[at].y;
                canvas.bold((column, y + 2.5), "start", LABEL, self.colour(at), name);
                canvas.text((column + names, y + 2.3), "start", TICK, Colour::Muted, more);
            }
        }
        let bottom = places.iter().map(|place| place.y).fold(top, f64::max) + ROW / 2.0;
        self.draw_scale(&mut canvas, &places, bottom + 9.0);
        let height = if side_by_side {
            let rows: Vec<f64> = languages.iter().map(|&at| places[at].y).collect();
            self.draw_matrix(&mut canvas, (total - EDGE - matrix, head), side, ROW, &rows);
            bottom + 16.0
        } else {
            let first = bottom + 20.0 + head;
            let left = EDGE + names;
            let side = side.min((total - left - EDGE) / languages.len().max(1) as f64);
            let rows: Vec<f64> = (0..languages.len()).map(|row| first + 3.0 + side * (row as f64 + 0.5)).collect();
            for (&at, y) in languages.iter().zip(&rows) {
                canvas.bold((left - 4.0, y + 2.5), "end", LABEL, self.colour(at), &self.name(at));
            }
            self.draw_matrix(&mut canvas, (left, first - 3.0), side, side, &rows);
            rows.last().copied().unwrap_or(first) + side / 2.0 + 5.0
        };
        frame(canvas, width, height, description)
    }

    /// The places of the languages, in the order of the picture.
    fn languages(&self) -> Vec<usize> {
        self.order.iter().copied().filter(|&at| self.tree.nodes[at].spoken).collect()
    }

    /// The place of a language in the matrices.
    fn index(&self, at: usize) -> usize {
        self.tree.nodes[..at].iter().filter(|node| node.spoken).count()
    }

    fn colour(&self, at: usize) -> Colour {
        if self.tree.nodes[at].spoken { Colour::Language(self.index(at)) } else { Colour::Muted }
    }

    fn name(&self, at: usize) -> String {
        let node = &self.tree.nodes[at];
        format!("{}{}", node.name, if node.masked > 0 { "†" } else { "" })
    }

    /// A node's name, and what else there is to say of it: its share, and what not all have.
    fn label(&self, at: usize) -> (String, String) {
        let (node, all) = (&self.tree.nodes[at], &self.tree.nodes);
        let mut more: Vec<String> = node.share.map(|share| format!("{:.0} %", 100.0 * share)).into_iter().collect();
        if !node.spoken {
            more.push("no text".into());
        }
        if all.iter().any(|other| other.grammar != node.grammar) {
            more.push(node.grammar.clone());
        }
        if all.iter().any(|other| other.script != node.script) && node.spoken {
            more.push(format!("script {}", node.script));
        }
        (self.name(at), more.join(", "))
    }

    /// Where each node is: across by the distances along its path, down by rows; a node without text is between those
    /// that descend from it.
    fn places(&self, left: f64, top: f64, room: f64) -> Vec<NodePlace> {
        let nodes = &self.tree.nodes;
        let mut depths = vec![0.0; nodes.len()];
        for &at in &self.order {
            let parent =
                nodes[at].parent.as_ref().and_then(|parent| nodes.iter().position(|node| node.name == *parent));
            depths[at] = parent.map_or(0.0, |parent| depths[parent]) + nodes[at].measured.max(0.0);
        }
        let deepest = depths.iter().copied().fold(0.0, f64::max).max(1e-9);
        let mut places: Vec<NodePlace> =
            depths.iter().map(|depth| NodePlace { x: left + depth / deepest * room, y: 0.0 }).collect();
        let mut row = 0.0;
        for &at in &self.order {
            if self.is_labelled(at) {
                places[at].y = top + ROW * (row + 0.5);
                row += 1.0;
            }
        }
        for &at in self.order.iter().rev() {
            if !self.is_labelled(at) {
                let children = self.tree.children(Some(at));
                let ends = children.iter().map(|&child| places[child].y);
                let (low, high) = ends.fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(y), high.max(y)));
                places[at].y = (low + high) / 2.0;
            }
        }
        places
    }

    fn draw_tree(&self, canvas: &mut Canvas, places: &[NodePlace], column: f64) {
        let roots = self.tree.children(None);
        let ys = || roots.iter().map(|&at| places[at].y);
        let (low, high) = ys().fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(y), high.max(y)));
        let root = NodePlace { x: EDGE + 3.0, y: (low + high) / 2.0 };
        for &at in &self.order {
            let node = &self.tree.nodes[at];
            let parent =
                self.order.iter().copied().find(|&other| Some(&self.tree.nodes[other].name) == node.parent.as_ref());
            let (from, to) = (parent.map_or(root, |parent| places[parent]), places[at]);
            canvas.line((from.x, from.y), (from.x, to.y), Colour::Muted, 0.9, "");
            canvas.line((from.x, to.y), (to.x, to.y), Colour::Muted, 0.9, "");
            let length = format!("{:.2}", node.measured);
            if to.x - from.x > width_of(&length) * TICK + 6.0 {
                canvas.text(((from.x + to.x) / 2.0, to.y - 2.0), "middle", TICK, Colour::Muted, &length);
            }
        }
        for &at in &self.order {
            let node = &self.tree.nodes[at];
            let NodePlace { x, y } = places[at];
            let inner = !self.is_labelled(at);
            if !inner && column - 4.0 > x + 5.0 {
                canvas.line((x + 4.0, y), (column - 3.0, y), Colour::Grid, 0.6, "1 2");
            }
            let parent = node.parent.as_deref().unwrap_or("the proto-language");
            let from = match node.from {
                invitro_results::DistanceFrom::Parent => format!("{} asked", node.asked),
                invitro_results::DistanceFrom::Siblings => format!("{} from each sibling asked", node.asked),
            };
            let tip = format!("{}: {:.3} from {parent}, {from}", node.name, node.measured);
            let shape = if node.spoken { crate::draw::MarkerShape::Circle } else { crate::draw::MarkerShape::Ring };
            canvas.shape(shape, (x, y), 2.6, self.colour(at), 1.0, &tip);
            if inner {
                canvas.text((x + 4.5, y + 2.2), "start", TICK, Colour::Muted, &node.name);
            }
        }
        canvas.shape(crate::draw::MarkerShape::Ring, (root.x, root.y), 2.0, Colour::Muted, 1.0, "the proto-language");
    }

    /// Whether a node has a row; an ancestor without text has its name at its fork.
    fn is_labelled(&self, at: usize) -> bool {
        self.tree.nodes[at].spoken || self.tree.children(Some(at)).is_empty()
    }

    /// How long a distance is drawn.
    fn draw_scale(&self, canvas: &mut Canvas, places: &[NodePlace], y: f64) {
        let of_one = self.order.iter().find_map(|&at| {
            let node = &self.tree.nodes[at];
            let parent = self.tree.nodes.iter().position(|other| Some(&other.name) == node.parent.as_ref());
            let from = parent.map_or(EDGE + 3.0, |parent| places[parent].x);
            (node.measured > 0.02).then(|| (places[at].x - from) / node.measured)
        });
        let Some(of_one) = of_one else { return };
        let step = [0.5, 0.2, 0.1, 0.05, 0.02].into_iter().find(|step| step * of_one < 60.0).unwrap_or(0.01);
        let (left, right) = (EDGE + 3.0, EDGE + 3.0 + step * of_one);
        canvas.line((left, y), (right, y), Colour::Text, 0.9, "");
        for x in [left, right] {
            canvas.line((x, y - 2.0), (x, y + 2.0), Colour::Text, 0.9, "");
        }
        canvas.text((right + 4.0, y + 2.2), "start", TICK, Colour::Muted, &format!("{step} of distance"));
    }

    /// Whether the heads of columns must be turned to fit.
    fn has_wide_names(&self, side: f64) -> bool {
        self.languages().iter().any(|&at| bold_width(&self.name(at)) > side - 1.0)
    }

    fn names_height(&self) -> f64 {
        let names = self.languages().into_iter().map(|at| bold_width(&self.name(at)));
        (names.fold(0.0, f64::max) - 8.0).max(0.0)
    }

    /// The matrix, its heads ending at `top`, with a row around each of `rows`.
    fn draw_matrix(&self, canvas: &mut Canvas, (left, top): (f64, f64), side: f64, height: f64, rows: &[f64]) {
        let languages = self.languages();
        let turned = self.has_wide_names(side);
        for (column, &at) in languages.iter().enumerate() {
            let x = left + side * (column as f64 + 0.5);
            if turned {
                let long = width_of(&self.name(at)) * LABEL;
                canvas.turned((x + 2.5, top - long / 2.0), LABEL, self.colour(at), &self.name(at));
            } else {
                canvas.bold((x, top), "middle", LABEL, self.colour(at), &self.name(at));
            }
        }
        for (&one, y) in languages.iter().zip(rows) {
            for (column, &other) in languages.iter().enumerate() {
                let (x, y) = (left + side * column as f64, y - height / 2.0);
                let [i, j] = [self.index(one), self.index(other)];
                let (stems, words) = (self.tree.stems[i][j], self.tree.words[i][j]);
                if one == other {
                    canvas.rect(x + 0.4, y + 0.4, side - 0.8, height - 0.8, Colour::Grid, "");
                    continue;
                }
                let tip = format!("{} and {}: stems {stems:.3}, words {words:.3}", self.name(one), self.name(other));
                canvas.rect(x + 0.4, y + 0.4, side - 0.8, height - 0.8, Colour::Heat(stems), &tip);
                if side >= NUMBERED {
                    let written = if heat_class(stems) >= DARK_CELL { Colour::Background } else { Colour::Text };
                    let number = format!("{stems:.2}");
                    let number = if side < 19.0 { number.trim_start_matches('0') } else { &number };
                    canvas.text((x + side / 2.0, y + height / 2.0 + 2.2), "middle", TICK, written, number);
                }
            }
        }
    }
}

fn bold_width(name: &str) -> f64 {
    width_of(name) * LABEL * 1.06
}

/// Parents before their children, a subtree at a time.
fn descend(tree: &FamilyTree, from: Option<usize>, order: &mut Vec<usize>) {
    for child in tree.children(from) {
        order.push(child);
        descend(tree, Some(child), order);
    }
}
